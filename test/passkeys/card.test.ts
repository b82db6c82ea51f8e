import { replaceRecoveryCodes } from '../../server/mfa/index.ts';
import { read } from '../password/steps.ts';
import { giveTotp, signInWithTotp } from '../sign-in/factor-steps.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSha256 } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import { memberWithPasskey } from './steps.ts';

const backend = anyBackend;

describe('the card of the sign-in methods', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('The card counts passkeys, and recovery codes if the user has a second factor', async () => {
    const bare = await foyer.signedIn(await foyer.addUser());
    const nothing = await read(await bare.get('/settings'));
    expect(nothing).toMatch(/Password Encrypted.*Passkeys None yet/);
    expect(await read(await bare.get('/settings?tab=mfa-data'))).not.toContain('Recovery codes');

    const { user, browser } = await memberWithPasskey(foyer);
    const { database, now } = foyer.deps;
    await signInWithTotp(foyer, browser, user, await giveTotp(foyer, user));
    await database.transaction((trx) =>
      replaceRecoveryCodes(trx, user.id, { hashes: [toSha256('a'), toSha256('b'), toSha256('c')], nowMs: now() }),
    );
    const some = await read(await browser.get('/settings'));
    expect(some).toContain('Passkeys 1 passkey Manage Passkeys');
    expect(await read(await browser.get('/settings?tab=mfa-data'))).toContain(
      'Recovery codes 3 left Manage Recovery codes',
    );
    expect((await browser.get('/settings/recovery-codes')).status).toBe(200);
  });
});
