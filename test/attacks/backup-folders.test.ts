import { createHmac, hkdfSync } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolders, readFolder, type TestFolders } from '../cli/backup-folders.ts';
import { type Cli, cliSecretKey } from '../support/cli.ts';

interface Manifest {
  format: number;
  createdAt: string;
  migration: string;
  files: { name: string; bytes: number; sha256: string }[];
  signature?: string;
}

describe('a backup that was changed', () => {
  let folders: TestFolders;
  let cli: Cli;
  let original: string;
  let folder: string;
  beforeAll(async () => {
    folders = await makeFolders();
    original = folders.path('original');
    cli = folders.cli('data');
    await cli('user', 'add', '--email', 'ada@example.com', '--password', 'open sesame 7');
    await cli('backup', original);
    await cli('user', 'add', '--email', 'later@example.com', '--password', 'open sesame 7');
  });
  afterAll(() => folders.remove());
  beforeEach(() => {
    folder = folders.path('changed');
    rmSync(folder, { recursive: true, force: true });
    cpSync(original, folder, { recursive: true });
  });

  const path = (name: string) => join(folder, name);
  const manifest = () => JSON.parse(readFileSync(path('manifest.json'), 'utf8')) as Manifest;
  const write = (value: object) => writeFileSync(path('manifest.json'), JSON.stringify(value));

  /** A manifest that somebody with SECRET_KEY has signed. */
  function writeSigned({ format, createdAt, migration, files }: Manifest): void {
    const body = {
      format,
      createdAt,
      migration,
      files: files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
    };
    const key = Buffer.from(hkdfSync('sha256', cliSecretKey, 'foyer', 'backups', 32));
    write({ ...body, signature: createHmac('sha256', key).update(JSON.stringify(body)).digest('base64url') });
  }

  /** It is refused with this text, and the present data stay as they are. */
  async function expectRefusal(text: string | RegExp): Promise<void> {
    const before = await readFolder(folders.path('data'));
    const run = await cli('restore', folder, '--replace');
    expect(run).toMatchObject({ code: 1, out: '', err: expect.stringMatching(text) });
    expect(await readFolder(folders.path('data'))).toEqual(before);
  }

  it('Attack: one changed byte of the database is refused', async () => {
    const bytes = readFileSync(path('foyer.db'));
    bytes[bytes.length - 10] = (bytes[bytes.length - 10] ?? 0) ^ 1;
    writeFileSync(path('foyer.db'), bytes);
    await expectRefusal(/foyer\.db: its SHA-256 is not that of the manifest/);
  });

  it('Attack: a truncated, a longer and an empty file are refused', async () => {
    const { length } = readFileSync(path('foyer.db'));
    truncateSync(path('foyer.db'), length - 4_096);
    await expectRefusal(/foyer\.db: has not the \d+ bytes/);
    truncateSync(path('foyer.db'), length + 4_096);
    await expectRefusal(/foyer\.db: has not the \d+ bytes/);
    truncateSync(path('foyer.db'), 0);
    await expectRefusal(/foyer\.db: has not the \d+ bytes/);
  });

  it('Attack: another database with its hash in the manifest is refused, because the manifest is signed', async () => {
    const made = manifest();
    write({ ...made, createdAt: '2020-01-01T00:00:00.000Z' });
    await expectRefusal(/manifest\.json: its signature is wrong/);
    write({ ...made, files: made.files.map((file) => ({ ...file, sha256: '0'.repeat(64) })) });
    await expectRefusal(/manifest\.json: its signature is wrong/);
    write({ ...made, signature: '' });
    await expectRefusal(/manifest\.json: its signature is wrong/);
    write({ ...made, signature: undefined });
    await expectRefusal(/manifest\.json: it is not the manifest of a backup/);
  });

  it('Attack: a signed manifest with a path as the name of a file is refused', async () => {
    const made = manifest();
    const [database] = made.files;
    writeFileSync(folders.path('outside.db'), readFileSync(path('foyer.db')));
    for (const name of [
      '../outside.db',
      folders.path('outside.db'),
      'sub/foyer.db',
      'foyer.db\0',
      '..',
      'foyer.db-wal',
    ]) {
      writeSigned({ ...made, files: [{ name, bytes: database?.bytes ?? 0, sha256: database?.sha256 ?? '' }] });
      await expectRefusal(/manifest\.json: it is not the manifest of a backup \(.*files\.0\.name/);
    }
    expect(existsSync(folders.path('outside.db'))).toBe(true);
  });

  it('Attack: a signed manifest that names a file twice, or no database, is refused', async () => {
    const made = manifest();
    const [database, shortLived] = made.files;
    if (!database || !shortLived) throw new Error('the backup has not both files');
    writeSigned({ ...made, files: [database, database] });
    await expectRefusal(/it names a file twice/);
    writeSigned({ ...made, files: [shortLived] });
    await expectRefusal(/the backup has no database/);
    // The signature of this test is the product's.
    writeSigned(made);
    expect(await folders.cli('signed')('restore', folder)).toMatchObject({ code: 0 });
  });

  it('Attack: symbolic links, folders and devices in place of files are refused', async () => {
    for (const name of ['foyer.db', 'manifest.json']) {
      renameSync(path(name), folders.path('elsewhere'));
      symlinkSync(folders.path('elsewhere'), path(name));
      await expectRefusal(`Refused: ${name} of the backup is a symbolic link.`);
      rmSync(path(name));
      mkdirSync(path(name));
      await expectRefusal(`Refused: ${name} of the backup is not a file.`);
      rmSync(path(name), { recursive: true });
      await expectRefusal(`Refused: ${name} of the backup is missing.`);
      renameSync(folders.path('elsewhere'), path(name));
    }
  });

  it('Attack: logs of SQLite beside the files of a backup are not read', async () => {
    for (const name of ['foyer.db-wal', 'foyer.db-journal', 'foyer.db-shm'])
      writeFileSync(path(name), 'x'.repeat(8_192));
    expect(await folders.cli('clean')('restore', folder)).toMatchObject({ code: 0 });
    expect(Object.keys(await readFolder(folders.path('clean')))).toEqual(['foyer.db', 'short-lived.db']);
  });
});
