import { notebookPlugin } from './notebookPlugin';
import { outputPlugin } from './outputPlugin';
import { runsPlugin } from './runsPlugin';

export default [notebookPlugin, runsPlugin, outputPlugin];
