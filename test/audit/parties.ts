import type { ListedEvent } from '../../server/audit/index.ts';

/** The browser of the tests, and none. */
export const here = { address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/), device: 'Chrome · Windows' };
export const nowhere = { address: null, device: null };

export const actor = (kind: Exclude<ListedEvent['actor']['kind'], 'operator'>) => ({ actor: { kind }, client: null });

/** The parties of an event, and its details. */
export type Expected = Pick<ListedEvent, 'actor' | 'member' | 'client' | 'details'> &
  Record<'address' | 'device', unknown>;

export const byMember = (user: { id: string }, details: object): Expected => ({
  ...actor('member'),
  member: user.id,
  ...here,
  details: { ...details },
});

export const byOperator = (details: object): Expected => ({
  actor: { kind: 'operator', name: expect.stringMatching(/./) },
  client: null,
  member: null,
  ...nowhere,
  details: { ...details },
});
