import { isLastSignInMethod, type SignInMethodRef } from '../../server/account/security/sign-in-methods.ts';

const password: SignInMethodRef = { kind: 'password' };
const [key, otherKey]: SignInMethodRef[] = [
  { kind: 'passkey', id: 'a' },
  { kind: 'passkey', id: 'b' },
];
const link: SignInMethodRef = { kind: 'link', id: 'a' };

describe('isLastSignInMethod', () => {
  it.each<[string, SignInMethodRef[], SignInMethodRef, boolean]>([
    ['a link alone is the last', [link], link, true],
    ['a passkey alone is the last', [key as SignInMethodRef], key as SignInMethodRef, true],
    ['a link beside a password is not the last', [password, link], link, false],
    ['a passkey beside a password is not the last', [password, key as SignInMethodRef], key as SignInMethodRef, false],
    ['a link beside a passkey with the same id is not the last', [key as SignInMethodRef, link], link, false],
    [
      'a passkey beside another is not the last',
      [key as SignInMethodRef, otherKey as SignInMethodRef],
      key as SignInMethodRef,
      false,
    ],
    ['a link that signs nobody in is not the last', [], link, false],
    ['a link that signs nobody in is not the last beside one that does', [{ kind: 'link', id: 'b' }], link, false],
  ])('Among sign-in methods, %s', (_what, ways, removed, expected) => {
    expect(isLastSignInMethod(ways, removed)).toBe(expected);
  });
});
