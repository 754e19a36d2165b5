import { LabIcon } from '@jupyterlab/ui-components';

const svg = (inside: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">${inside}</g></svg>`;

// One sheet that becomes several processes.
export const exportIcon = new LabIcon({
  name: 'nbddp:export',
  svgstr: svg(
    '<path d="M4 3h9l4 4v4h-2V8h-3V5H6v14h5v2H4z"/><path d="M13 13h3v2h-3zm5 0h3v2h-3zm-5 4h3v2h-3zm5 0h3v2h-3z"/>'
  )
});

export const runIcon = new LabIcon({
  name: 'nbddp:run',
  svgstr: svg('<path d="M4 4l9 8-9 8z"/><path d="M15 5h6v3h-6zm0 5.5h6v3h-6zM15 16h6v3h-6z"/>')
});

export const runsIcon = new LabIcon({
  name: 'nbddp:runs',
  svgstr: svg('<path d="M3 3h2v16h16v2H3z"/><path d="M7 8l4 5 3-2 5 5-1.4 1.4L13.7 13.5l-3.1 2L5.5 9z"/>')
});
