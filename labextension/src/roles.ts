// The roles that a cell can be given, and what its tags say. No imports: plain functions of plain values.

export const ROLES = ['train', 'setup', 'rank0', 'parameters', 'skip', 'wrap', 'connect'] as const;
export type Role = (typeof ROLES)[number];

const TAGS: Record<Role, string> = {
  train: 'ddp-train',
  setup: 'ddp-setup',
  rank0: 'ddp-rank0',
  parameters: 'parameters',
  skip: 'ddp-skip',
  wrap: 'ddp-wrap',
  connect: 'ddp-connect'
};

/** The role that a cell's tags give it, as nbddp reads them: the first one counts. */
export function roleOf(tags: readonly string[]): Role | '' {
  for (const tag of tags) {
    const role = ROLES.find(one => TAGS[one] === tag);
    if (role) {
      return role;
    }
  }
  return '';
}

/** The tags after a cell was given a role, or none; tags that are no role stay as they are. */
export function withRole(tags: readonly string[], role: Role | ''): string[] {
  const others = tags.filter(tag => !roleOf([tag]));
  return role ? [...others, TAGS[role]] : others;
}
