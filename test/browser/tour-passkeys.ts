import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { Language } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { reset } from '../password/steps.ts';
import type { Stop } from './tour.ts';
import type { SettingsTour } from './tour-settings.ts';
import { visit as visitPage } from './visit.ts';

/** The passkeys of a member, what is done with them, and the way to show again who one is. */
export function passkeyStops({ foyer, signIn }: SettingsTour): Stop[] {
  const dayMs = 24 * 60 * 60_000;
  /** Answers the id of the first. */
  async function addPasskeys(member: User, names: readonly string[]): Promise<string> {
    const { database, now } = foyer().deps;
    const rows = names.map((name, index) => ({
      id: randomBytes(32).toString('base64url'),
      userId: member.id,
      name,
      publicKey: '',
      counter: 0,
      transports: '',
      aaguid: '',
      backedUp: index % 2,
      createdAt: now() - (30 - index) * dayMs,
      lastUsedAt: index === 0 ? null : now() - index * dayMs,
    }));
    if (rows.length > 0) await database.db.insertInto('passkeys').values(rows).execute();
    return rows[0]?.id ?? '';
  }
  const visit = async (page: Page, names: readonly string[], path: (id: string) => string) => {
    const member = await foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    const id = await addPasskeys(member, names);
    await signIn(page, member);
    await visitPage(page, foyer().url + path(id));
  };
  const names = ['Red laptop', 'iCloud Keychain', 'A-key-with-a-name-as-long-as-anybody-may-ever-give-to-a-key'];
  const list = '/settings/passkeys';
  const add = `${list}/add`;
  const open =
    (path: (id: string) => string, of: readonly string[] = names) =>
    (page: Page, _lang: Language) =>
      visit(page, of, path);
  return [
    { name: 'passkeys', open: open(() => `${list}#passkeys:renamed`) },
    { name: 'passkeys, none', open: open(() => list, []) },
    { name: 'passkeys, add', open: open(() => add, []) },
    { name: 'passkeys, remove', open: open((id) => `${list}/remove?passkey=${id}`) },
    {
      name: 'passkeys after a reset',
      async open(page) {
        const member = await foyer().addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
        await addPasskeys(member, names);
        const browser = foyer().browser();
        await reset(foyer(), browser, member.email);
        const cookies = Object.entries(await browser.cookies());
        await page
          .context()
          .addCookies(cookies.map(([name, value]) => ({ name, value, domain: 'localhost', path: '/' })));
        await page.goto(`${foyer().url}/reset-password/ways-in`);
      },
    },
    { name: 'confirm by passkey', open: open(() => `/re-authenticate?redirect=${list}`) },
  ];
}
