// The first line of a training cell, `%%ddp_train --nproc 2 …`, read and written. No imports: plain functions.

export interface IRunOptions {
  mode: string; // '' is ddp
  nproc: string;
  devices: string;
  seed: string;
  background: boolean;
  fresh: boolean;
  exact: boolean;
  batchPerRank: boolean;
  syncBatchnorm: boolean;
  shard: boolean;
  resume: string; // a run, or a checkpoint's file
  rest: string;
  parameters: string; // the script's own options
}

export const DEFAULTS: IRunOptions = {
  mode: '',
  nproc: '',
  devices: '',
  seed: '',
  background: false,
  fresh: false,
  exact: false,
  batchPerRank: false,
  syncBatchnorm: false,
  shard: false,
  resume: '',
  rest: '',
  parameters: ''
};

export const MODES = ['auto', 'single', 'dp'] as const; // besides ddp
const VALUES = {
  '--mode': 'mode',
  '--nproc': 'nproc',
  '--devices': 'devices',
  '--seed': 'seed',
  '--resume': 'resume'
} as const;
const FLAGS = {
  '--background': 'background',
  '--fresh': 'fresh',
  '--exact': 'exact',
  '--batch-per-rank': 'batchPerRank',
  '--sync-batchnorm': 'syncBatchnorm',
  '--shard': 'shard'
} as const;
const QUOTE = /["']/;
const MAGIC = /^%%(ddp|dp|single)_train\b[ \t]*(.*)/;

/** The options on a cell's first line; null where it is no %%ddp_train. What the form does not have is `rest`. */
export function readMagic(source: string): IRunOptions | null {
  const found = MAGIC.exec(source.split('\n', 1)[0]);
  if (!found || found[1] !== 'ddp') {
    return null;
  }
  const options = { ...DEFAULTS };
  const words = found[2].split(/[ \t]+/).filter(word => word);
  const rest: string[] = [];
  while (words.length) {
    const [word, value] = parts(words.shift()!);
    const whole = value === undefined ? word : `${word}=${value}`;
    const given = value ?? words[0];
    if (word === '--') {
      options.parameters = words.splice(0).join(' ');
    } else if (QUOTE.test(whole)) {
      rest.push(whole, ...words.splice(0)); // what is quoted stays as it is
    } else if (word in FLAGS) {
      options[FLAGS[word as keyof typeof FLAGS]] = true;
    } else if (word in VALUES && given !== undefined && !QUOTE.test(given)) {
      options[VALUES[word as keyof typeof VALUES]] = value ?? words.shift()!;
    } else {
      rest.push(whole);
    }
  }
  return { ...options, rest: rest.join(' ') };
}

function parts(word: string): [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

/** The cell with these options on its first line, which is made where it is none of ours. */
export function withMagic(source: string, options: IRunOptions): string {
  const line = ['%%ddp_train'];
  for (const [word, key] of Object.entries(VALUES)) {
    const value = options[key].replace(/\s+/g, '');
    if (value) {
      line.push(word, value);
    }
  }
  for (const [word, key] of Object.entries(FLAGS)) {
    if (options[key]) {
      line.push(word);
    }
  }
  line.push(...[options.rest.trim(), options.parameters.trim() && `-- ${options.parameters.trim()}`].filter(part => part));
  const lines = source.split('\n');
  return [line.join(' '), ...(MAGIC.test(lines[0]) ? lines.slice(1) : lines)].join('\n');
}

const FORMS = {
  nproc: /^\s*([1-9]\d*)?\s*$/,
  devices: /^\s*(\d+(\s*,\s*\d+)*)?\s*$/,
  seed: /^\s*(\d+)?\s*$/
} as const;

/** The fields that hold what they cannot mean; none where all is well. */
export function problems(options: IRunOptions): Array<keyof typeof FORMS> {
  return (Object.keys(FORMS) as Array<keyof typeof FORMS>).filter(field => !FORMS[field].test(options[field]));
}
