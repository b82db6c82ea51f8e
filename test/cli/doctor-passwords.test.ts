import { readPasswords } from '../../server/cli/doctor/passwords.ts';
import type { Setup } from '../../server/cli/doctor/setup.ts';
import { createPasswordHasher } from '../../server/password/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const newest = 'newest-key-0123456789-abcdefghij';
const older = 'older-key-0123456789-abcdefghijk';
const bcrypt = `$2b$06$${'a'.repeat(21)}u${'b'.repeat(31)}`;

describe.each(backends)(
  'foyer doctor counts the password hashes that need an older SECRET_KEY, on $name',
  (backend) => {
    let foyer: TestFoyer;
    beforeAll(async () => {
      foyer = await startFoyer(backend);
    });
    afterAll(() => foyer?.close());

    const hasher = (key: string) => createPasswordHasher({ queueMax: 1, waitMs: 60_000, secretKeys: [key] });
    const memberWith = async (hash: { text: string; profile: string | null }) => {
      const { id } = await foyer.addUser();
      await foyer.deps.database.db
        .updateTable('users')
        .set({ passwordHash: hash.text, passwordProfile: hash.profile })
        .where('id', '=', id)
        .execute();
    };
    const counts = async (...keys: string[]) => {
      const { older: needing, lost } = await readPasswords(foyer.deps.database, {
        config: { SECRET_KEYS: keys },
      } as unknown as Setup);
      return { older: needing, lost };
    };

    it('An imported hash wrapped in one of Foyer’s own counts like any other hash', async () => {
      await foyer.deps.database.db.updateTable('users').set({ passwordHash: null, passwordProfile: null }).execute();
      for (const key of [older, newest]) {
        const wrapped = await hasher(key).wrap?.({ text: bcrypt, profile: 'bcrypt$6' });
        if (!wrapped) throw new Error('no hash was put around it');
        await memberWith(wrapped);
      }
      expect(await counts(newest, older)).toEqual({ older: 1, lost: 0 });
      expect(await counts(newest)).toEqual({ older: 0, lost: 1 });
      await memberWith({ text: await hasher(older).hash('correct horse battery', 'operator'), profile: null });
      expect(await counts(newest, older)).toEqual({ older: 2, lost: 0 });
      expect(await counts(newest)).toEqual({ older: 0, lost: 2 });
    });

    it('An imported hash in its original form needs no key', async () => {
      const before = await counts(newest, older);
      await memberWith({ text: bcrypt, profile: 'bcrypt$6' });
      expect(await counts(newest, older)).toEqual(before);
    });
  },
);
