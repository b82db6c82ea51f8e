import { isSatisfiedBy } from '../../server/oidc/authorization-requests.ts';
import { toUserId } from '../support/ids.ts';

const begunAtMs = 1_000_000;
const signedInAt = (authTimeMs: number) => ({ userId: toUserId('u'), authTimeMs, amr: ['pwd'], remember: false });
const asked = (...reasons: string[]) => ({ name: 'login', reasons });

describe('isSatisfiedBy', () => {
  it.each([
    ['no_session', asked('no_session')],
    ['the session of another user', asked('foyer_session')],
    ['a next step', asked('next_step', 'no_session')],
    ['consent', { name: 'consent', reasons: ['consent_prompt'] }],
  ])('Any sign-in satisfies %s', (_what, prompt) => {
    expect(isSatisfiedBy(prompt, begunAtMs, signedInAt(1))).toBe(true);
  });

  it.each([
    ['prompt=login', asked('login_prompt')],
    ['max_age', asked('max_age')],
    ['max_age in a fresh browser', asked('no_session', 'max_age')],
    ['an id_token_hint of another user', asked('id_token_hint')],
    ['a hinted user', asked('hinted_member')],
    ['a stronger acr', asked('essential_acrs')],
    ['an unknown reason', asked('next_step', 'something_new')],
  ])('Only a sign-in after the request was started satisfies %s', (_what, prompt) => {
    expect(isSatisfiedBy(prompt, begunAtMs, signedInAt(begunAtMs - 1))).toBe(false);
    expect(isSatisfiedBy(prompt, begunAtMs, signedInAt(begunAtMs))).toBe(false);
    expect(isSatisfiedBy(prompt, begunAtMs, signedInAt(begunAtMs + 1))).toBe(true);
  });
});
