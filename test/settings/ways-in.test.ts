import { isLastWayIn, type WayIn } from '../../server/settings/ways-in.ts';

const password: WayIn = { kind: 'password' };
const [key, otherKey]: WayIn[] = [
  { kind: 'passkey', id: 'a' },
  { kind: 'passkey', id: 'b' },
];
const link: WayIn = { kind: 'link', id: 'a' };

describe('the last way in', () => {
  it.each<[string, WayIn[], WayIn, boolean]>([
    ['a link that is all there is', [link], link, true],
    ['a passkey that is all there is', [key as WayIn], key as WayIn, true],
    ['a link beside a password', [password, link], link, false],
    ['a passkey beside a password', [password, key as WayIn], key as WayIn, false],
    ['a link beside a passkey of the same name', [key as WayIn, link], link, false],
    ['a passkey beside another', [key as WayIn, otherKey as WayIn], key as WayIn, false],
    ['a link that lets nobody in, beside nothing that does', [], link, false],
    ['a link that lets nobody in, beside one that does', [{ kind: 'link', id: 'b' }], link, false],
  ])('%s', (_what, ways, removed, expected) => {
    expect(isLastWayIn(ways, removed)).toBe(expected);
  });
});
