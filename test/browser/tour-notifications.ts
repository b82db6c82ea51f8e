import type { Page } from 'playwright-core';
import { requestFactorReset } from '../../server/account/index.ts';
import type { Language } from '../../server/http/index.ts';
import { giveTotp } from '../sign-in/factor-steps.ts';
import type { Stop } from './tour.ts';
import type { SettingsTour } from './tour-settings.ts';

const path = '/settings/notifications';
const long =
  'Your showcase page “Chairs of the North” has been seen by 1,204 visitors this week.\nThree of them wrote to you.';

/** The list of notifications: with unread ones of both kinds while a second factor is about to be taken away, and empty. */
export function notificationStops({ foyer, signIn }: SettingsTour): Stop[] {
  async function withSome(page: Page, lang: Language): Promise<void> {
    const { deps, url } = foyer();
    const member = await foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist', locale: lang });
    await signIn(page, member);
    await giveTotp(foyer(), member);
    await requestFactorReset({ ...deps, publicUrl: url, brandName: 'Foyer' }, member.id, {
      waitMs: 72 * 3_600_000,
      bySms: false,
    });
    for (const title of ['Weekly figures', 'A new message from Lumen & Sons']) {
      const message = {
        channel: 'notification',
        userId: member.id,
        title,
        description: long,
        category: 'task',
      } as const;
      await deps.database.transaction((trx) => deps.outbox.add(trx, message));
    }
    await deps.outboxWorker.turn();
    await page.goto(url + path);
  }
  return [
    { name: 'notifications', open: withSome },
    {
      name: 'notifications, none',
      async open(page) {
        await signIn(page, await foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist' }));
        await page.goto(foyer().url + path);
      },
    },
  ];
}
