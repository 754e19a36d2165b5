// nbddp/widget/static/run.js, which the widget of the notebook draws with as well.
declare module '*/static/run.js' {
  export interface IActions {
    stop?: (grade: string) => void;
    open?: (script: string) => void;
  }
  export function draw(container: HTMLElement, snapshot: object, actions?: IActions): void;
  /** A curve of a snapshot. */
  export interface ICurve {
    name: string;
    source: string;
    x: string;
    points: Array<[number, number]>;
  }
  export interface IPanel {
    root: HTMLElement;
    large: boolean;
  }
  /** One chart, and the curves that it shows from now on. */
  export function panel(): IPanel;
  export function plot(panel: IPanel, group: readonly ICurve[]): void;
  export function number(value: number): string;
  export function remove(container: HTMLElement): void;
  export function duration(seconds: number): string;
  export function known(word: string): string;
  export function told(words: Words | string | number): string;
  /** A form with %1, %2 … in it, and what stands there. */
  export type Words = [string, ...Array<Words | string | number>];
  export const TRANSLATION: unique symbol;
}
