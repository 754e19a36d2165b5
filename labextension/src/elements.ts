/** An element with text and children; text reaches the page as text only. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Array<Node | string>
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Leaves alone what says it already; what says nothing takes no room. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
  element.hidden = !text;
}

export function button(text: string, className: string, click: () => void): HTMLButtonElement {
  const element = make('button', { type: 'button', class: className }, text);
  element.addEventListener('click', event => {
    event.stopPropagation();
    click();
  });
  return element;
}
