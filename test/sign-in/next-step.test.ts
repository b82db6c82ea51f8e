import { blocksAuthorization, type NextStepInput, nextStep } from '../../server/sign-in/next-step.ts';
import { toPlanId } from '../support/ids.ts';

const terms = { number: 3, label: '3.0.0' };
const member: NextStepInput['user'] = {
  emailVerified: true,
  acceptedTosVersion: 3,
  source: 'general',
  planId: toPlanId('plan'),
  offeredPlanId: null,
  dealAgainAt: null,
  secondFactorRequired: false,
  mfaPreference: 'none',
};
const settled: NextStepInput = { secondFactorPending: false, user: member, terms, plansAreSold: true, nowMs: 1_000 };
const as = (user: Partial<NextStepInput['user']>) => ({ user: { ...member, ...user } });
const demanded = { secondFactorRequired: true, mfaPreference: 'none' } as const;
const offered = { source: 'appsumo_update', offeredPlanId: toPlanId('tier') } as const;
const app = { authorization: 'request' };
const page = { returnTo: 'https://login.example.com/settings' };

describe('nextStep', () => {
  it.each([
    // The conditions of an earlier row win over those of a later row.
    ['second-factor', { secondFactorPending: true, ...as({ emailVerified: false }), ...app, ...page }],
    ['confirm-email', { ...as({ emailVerified: false, acceptedTosVersion: null }), ...app, ...page }],
    ['accept-terms', { ...as({ acceptedTosVersion: null, planId: null, ...demanded }), ...app, ...page }],
    ['accept-terms', { ...as({ acceptedTosVersion: 2 }), ...app }],
    ['accept-terms', { ...as({ acceptedTosVersion: 0 }) }],
    ['set-up-second-factor', { ...as({ ...demanded, planId: null }), ...app, ...page }],
    ['set-up-second-factor', as(demanded)],
    // A second factor that is set up, or not required, blocks nothing.
    ['authorization', { ...as({ ...demanded, mfaPreference: 'totp' }), ...app }],
    ['search-app', as({ ...demanded, mfaPreference: 'sms' })],
    ['authorization', { ...as({ ...offered, planId: null }), ...app, ...page }],
    ['return', { ...as({ ...offered, planId: null }), ...page }],
    ['partner-upgrade', as({ ...offered, planId: null })],
    ['partner-upgrade', as(offered)],
    // A user who declined the offer is asked again from this moment on.
    ['partner-upgrade', as({ ...offered, dealAgainAt: 1_000 })],
    ['search-app', as({ ...offered, dealAgainAt: 1_001 })],
    ['choose-plan', as({ ...offered, planId: null, dealAgainAt: 1_001 })],
    // The user has accepted the offer.
    ['search-app', as({ source: 'appsumo_update' })],
    ['choose-plan', as({ planId: null })],
    ['choose-plan', as({ planId: null, source: 'appsumo' })],
    ['search-app', {}],
    ['search-app', as({ acceptedTosVersion: 4 })],
    ['search-app', { ...as({ planId: null }), plansAreSold: false }],
    ['search-app', { ...as(offered), plansAreSold: false }],
  ] as [string, Partial<NextStepInput>][])('The next step is %s for %j', (kind, change) => {
    expect(nextStep({ ...settled, ...change }).kind).toBe(kind);
  });

  it('Each step has the values that it needs', () => {
    expect(nextStep({ ...settled, ...app })).toEqual({ kind: 'authorization', id: 'request' });
    expect(nextStep({ ...settled, ...page })).toEqual({ kind: 'return', address: page.returnTo });
    expect(nextStep({ ...settled, ...as(offered) })).toEqual({ kind: 'partner-upgrade', planId: 'tier' });
  });

  it.each([
    ['second-factor', true],
    ['confirm-email', true],
    ['accept-terms', true],
    ['set-up-second-factor', true],
    ['choose-plan', false],
    ['search-app', false],
  ] as const)('The step %s blocks the authorization of a client: %s', (kind, expected) => {
    expect(blocksAuthorization({ kind })).toBe(expected);
  });
});
