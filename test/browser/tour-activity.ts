import { recordEntry } from '../../server/audit/index.ts';
import { toClientId } from '../support/ids.ts';
import type { Stop } from './tour.ts';
import type { SettingsTour } from './tour-settings.ts';

const path = '/settings/activity';

/** The account activity: with events of all kinds on more than one page, and with the sign-in alone. */
export function activityStops({ foyer, signIn }: SettingsTour): Stop[] {
  return [
    {
      name: 'account activity',
      async open(page) {
        const { deps, url, app } = foyer();
        const user = await foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
        const subject = user.id;
        const place = {
          subject,
          actor: { kind: 'member' } as const,
          address: '2001:db8:1234:5678:9abc:def0:1234:5678',
        };
        const { db } = deps.database;
        const atMs = deps.now();
        for (let n = 0; n < 22; n += 1) {
          const details = { amr: ['pwd'] };
          await recordEntry(db, { type: 'sign-in.completed', details, ...place, atMs: atMs - n * 60_000 });
        }
        const paid = { invoice: 'in_1', amountCents: 90_000, currency: 'usd' };
        await recordEntry(db, { type: 'payment.made', details: { ...paid, plan: '10' }, subject, atMs: atMs + 1 });
        await recordEntry(db, {
          type: 'payment.refunded',
          details: paid,
          actor: { kind: 'stripe' },
          subject,
          atMs: atMs + 2,
        });
        await recordEntry(db, {
          type: 'operator.command',
          details: { command: 'user disable', exitCode: 0 },
          actor: { kind: 'operator', name: 'root' },
          subject,
          atMs: atMs + 3,
        });
        await recordEntry(db, {
          type: 'sign-in.refused',
          details: { method: 'password', attempts: 3 },
          ...place,
          actor: { kind: 'visitor' },
          atMs: atMs + 4,
        });
        await recordEntry(db, {
          type: 'app.connected',
          details: { scopes: ['openid'] },
          clientId: toClientId('bookkeeping'),
          ...place,
          atMs: atMs + 5,
        });
        await recordEntry(db, {
          type: 'factor.changed',
          details: { change: 'totp-replaced' },
          ...place,
          atMs: atMs + 6,
        });
        await signIn(page, user);
        await app.audit.seal();
        await page.goto(url + path);
      },
    },
    {
      name: 'account activity, the sign-in alone',
      async open(page) {
        await signIn(page, await foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist' }));
        await foyer().app.audit.seal();
        await page.goto(foyer().url + path);
      },
    },
  ];
}
