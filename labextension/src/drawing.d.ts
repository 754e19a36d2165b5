// nbddp/widget/static/run.js, which the widget of the notebook draws with as well.
declare module '*/static/run.js' {
  export interface IActions {
    stop?: (grade: string) => void;
    open?: (script: string) => void;
  }
  export function draw(container: HTMLElement, snapshot: object, actions?: IActions): void;
  export function remove(container: HTMLElement): void;
  export function duration(seconds: number): string;
}
