import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { dayMs, operatorOf } from '../account/deletion/steps.ts';
import { type Cli, cliOf } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { metadataXml } from '../support/provider-documents.ts';
import { backends } from '../support/stores.ts';
import { certificateFor } from './provider-folder.ts';

interface Event {
  seq: number;
  type: string;
  member: string | null;
}

describe.each(backends)('foyer audit on $name', (backend) => {
  let foyer: TestFoyer;
  let cli: Cli;
  let folder: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    cli = operatorOf(foyer);
    folder = await mkdtemp(join(tmpdir(), 'foyer-audit-'));
  });
  afterAll(async () => {
    await foyer?.close();
    await rm(folder, { recursive: true });
  });

  it('`list` prints the newest events first, by member, type and time', async () => {
    const [ada, bob] = [await foyer.addUser(), await foyer.addUser()];
    for (const user of [ada, bob, ada]) await foyer.signedIn(user);
    const listed = async (...options: string[]) => (await cli('audit', 'list', '--json', ...options)).json<Event[]>();
    const about = await listed('--member', ada.email, '--type', 'sign-in.completed');
    expect(about.map(({ member, type }) => [member, type])).toEqual([
      [ada.id, 'sign-in.completed'],
      [ada.id, 'sign-in.completed'],
    ]);
    expect(about[0]?.seq).toBeGreaterThan(about[1]?.seq ?? 0);
    expect(await listed('--limit', '1')).toHaveLength(1);
    expect(await listed('--until', '2020-01-01')).toEqual([]);
    expect(await listed('--since', '2099-01-01T00:00Z')).toEqual([]);
    const { out } = await cli('audit', 'list', '--member', bob.email);
    expect(out).toMatch(/^NO +TIME +TYPE/);
    expect(out).toContain('amr=pwd');
    expect(await cli('audit', 'list', '--type', 'sign-in')).toMatchObject({ code: 2 });
    expect(await cli('audit', 'list', '--since', 'yesterday')).toMatchObject({ code: 2 });
    expect(await cli('audit', 'list', '--member', 'no-one@example.com')).toMatchObject({ code: 3 });
  });

  it('`export` writes all events as JSON Lines to a new file that only its owner reads', async () => {
    const out = join(folder, 'audit.jsonl');
    expect(await cli('audit', 'export', '--out', out, '--type', 'sign-in.completed')).toMatchObject({ code: 0 });
    const lines = (await readFile(out, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Event).type)).toEqual(Array(3).fill('sign-in.completed'));
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    const again = await cli('audit', 'export', '--out', out);
    expect(again).toMatchObject({
      code: 4,
      err: expect.stringMatching(/EEXIST.*; this command runs as user \S+ in \//),
    });
  });

  it('The event of a command names FOYER_OPERATOR, and the user of the operating system if that is no plain name', async () => {
    const { username } = userInfo();
    for (const [given = '', named] of [
      ['ada@office.example', 'ada@office.example'],
      ['', username],
      ['ada\u001b[31m', username],
      ['a'.repeat(101), username],
    ]) {
      await cliOf(foyer, { FOYER_OPERATOR: given })('outbox', 'retry', '--all-dead');
      const [event] = (await cli('audit', 'list', '--limit', '1', '--json')).json<{ actor: unknown }[]>();
      expect(event?.actor).toEqual({ kind: 'operator', name: named });
    }
  });

  it('An import of a provider is recorded, refused ones too; a trial run and an unchanged entry are not', async () => {
    const [file, metadata] = [join(folder, 'providers.json'), join(folder, 'metadata.xml')];
    await writeFile(metadata, metadataXml({ signing: [certificateFor('first')] }));
    const importing = cliOf(foyer, { PROVIDERS_FILE: file });
    const run = async (...options: string[]) =>
      (await importing('provider', 'import', metadata, '--id', 'acme', ...options)).code;
    expect([await run('--dry-run'), await run(), await run(), await run('--name', 'Acme')]).toEqual([0, 0, 0, 0]);
    await writeFile(file, JSON.stringify({ providers: [{ kind: 'saml', id: 'broken' }] }));
    expect(await run()).toBe(1);
    const listed = await cli('audit', 'list', '--type', 'operator.command', '--json');
    const events = listed.json<{ details: object }[]>().map(({ details }) => details);
    const event = (exitCode: number) => ({ command: 'provider import', exitCode });
    expect(events.filter((details) => 'command' in details && details.command === 'provider import')).toEqual([
      event(1),
      event(0),
      event(0),
    ]);
  });

  it('`verify` names a head to keep, and exits with 1 and the first broken event after a change', async () => {
    const intact = await cli('audit', 'verify', '--json');
    expect(intact).toMatchObject({ code: 0 });
    const { head } = intact.json<{ head: string }>();
    expect(await cli('audit', 'verify', '--anchor', head)).toMatchObject({ code: 0 });
    await sql`update audit_events set body = replace(body, 'pwd', 'mfa') where seq = 2`.execute(foyer.deps.database.db);
    const broken = await cli('audit', 'verify', '--json');
    expect(broken.code).toBe(1);
    expect(broken.json()).toMatchObject({ intact: false, seq: 2, fault: expect.stringContaining('changed') });
    expect((await cli('audit', 'verify')).out).toContain('broken at event 2');
  });

  it('The log of a running Foyer says that the trail is broken, when retention meets the change', async () => {
    await foyer.app.audit.sweep();
    expect(foyer.logged()).not.toContain('audit-broken');
    foyer.passTime(401 * dayMs);
    await foyer.app.audit.sweep();
    expect(foyer.logged()).toMatch(/"act":"audit-broken","seq":2,/);
  });
});
