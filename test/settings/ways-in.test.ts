import { isLastSignInMethod, type SignInMethodRef } from '../../server/settings/sign-in-methods.ts';

const password: SignInMethodRef = { kind: 'password' };
const [key, otherKey]: SignInMethodRef[] = [
  { kind: 'passkey', id: 'a' },
  { kind: 'passkey', id: 'b' },
];
const link: SignInMethodRef = { kind: 'link', id: 'a' };

describe('isLastSignInMethod', () => {
  it.each<[string, SignInMethodRef[], SignInMethodRef, boolean]>([
    ['a link that is all there is', [link], link, true],
    ['a passkey that is all there is', [key as SignInMethodRef], key as SignInMethodRef, true],
    ['a link beside a password', [password, link], link, false],
    ['a passkey beside a password', [password, key as SignInMethodRef], key as SignInMethodRef, false],
    ['a link beside a passkey of the same name', [key as SignInMethodRef, link], link, false],
    ['a passkey beside another', [key as SignInMethodRef, otherKey as SignInMethodRef], key as SignInMethodRef, false],
    ['a link that lets nobody in, beside nothing that does', [], link, false],
    ['a link that lets nobody in, beside one that does', [{ kind: 'link', id: 'b' }], link, false],
  ])('The last sign-in method is recognized in the case: %s', (_what, ways, removed, expected) => {
    expect(isLastSignInMethod(ways, removed)).toBe(expected);
  });
});
