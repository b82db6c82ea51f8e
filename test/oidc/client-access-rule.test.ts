import { createCanAccessClient, grantsAccess, isRestricted } from '../../server/oidc/access-rule.ts';
import { toPlanId } from '../support/ids.ts';

const none = { plan: undefined, entitlements: [] };

describe('access to a client', () => {
  it('A client that names no plan and no entitlement lets every user in', () => {
    for (const demand of [{}, { required_plans: [] }, { required_plans: undefined, required_entitlements: [] }]) {
      expect(isRestricted(demand)).toBe(false);
      expect(grantsAccess(demand, none)).toBe(true);
    }
  });

  it('A client that names plans lets a user in who has one of them', () => {
    const demand = { required_plans: ['12', '13'] };
    expect(isRestricted(demand)).toBe(true);
    expect(grantsAccess(demand, { plan: '13', entitlements: [] })).toBe(true);
    expect(grantsAccess(demand, { plan: '1', entitlements: ['12'] })).toBe(false);
    expect(grantsAccess(demand, none)).toBe(false);
  });

  it('A client that names plans and entitlements lets a user in who has any of either', () => {
    const demand = { required_plans: ['12'], required_entitlements: ['team:10', 'wallet'] };
    expect(grantsAccess(demand, { plan: '10', entitlements: ['shortlist', 'wallet'] })).toBe(true);
    expect(grantsAccess(demand, { plan: '12', entitlements: [] })).toBe(true);
    expect(grantsAccess(demand, { plan: 'wallet', entitlements: ['team:1'] })).toBe(false);
  });

  it('A demand that is not text, or that matches only part of a name, lets no user in', () => {
    const demand = { required_plans: [12, null], required_entitlements: ['team:10'] };
    expect(grantsAccess(demand, { plan: '12', entitlements: ['team:1', 'team:100', 'TEAM:10'] })).toBe(false);
    expect(grantsAccess({ required_plans: 'undefined' }, none)).toBe(true);
  });

  it('The access check reads the membership of a user only when the client demands something', () => {
    let asked = 0;
    const mayEnter = createCanAccessClient(({ planId }) => {
      asked += 1;
      return { plan: planId ?? undefined, entitlements: [] };
    });
    expect(mayEnter({}, { planId: null, seats: null, trialUntil: null })).toBe(true);
    expect(asked).toBe(0);
    expect(mayEnter({ required_plans: ['12'] }, { planId: toPlanId('12'), seats: null, trialUntil: null })).toBe(true);
    expect(mayEnter({ required_plans: ['12'] }, { planId: null, seats: null, trialUntil: null })).toBe(false);
    expect(asked).toBe(2);
  });
});
