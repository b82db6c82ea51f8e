import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cli, cliOn } from '../support/cli.ts';

/** Nothing here opens a store: the folder does not exist and is not made. */
const foyer = cliOn({ databaseUrl: '', redisUrl: '', dataDir: join(tmpdir(), 'foyer-cli-help', 'nowhere') });

const groups = {
  client: ['add', 'list', 'show', 'update', 'remove'],
  user: [
    'add',
    'import',
    'set-password',
    'reset-mfa',
    'sessions',
    'update',
    'delete',
    'list',
    'show',
    'disable',
    'enable',
  ],
  resource: ['add', 'list', 'remove'],
  'partner-deal': ['import'],
  gift: ['create', 'list', 'revoke'],
  plans: ['list', 'check', 'sync'],
  provider: ['list', 'check', 'refusals', 'import'],
  billing: ['diff', 'reconcile', 'refund'],
  outbox: ['list', 'retry'],
  audit: ['list', 'verify', 'export'],
  keys: ['list', 'rotate'],
  mail: ['preview', 'send'],
  sms: ['send'],
};
const commands = [
  ...Object.entries(groups).flatMap(([group, names]) => names.map((name) => [group, name])),
  ['migrate'],
  ['backup'],
  ['restore'],
  ['doctor'],
];

/** The commands that a help text lists. */
const listed = (help: string) =>
  [...(/Commands:\n([\s\S]*?)\n\n/.exec(help)?.[1] ?? '').matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name);

describe('help', () => {
  it('The help lists every command', async () => {
    const help = await foyer('--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(listed(help.out)).toEqual([...Object.keys(groups), 'migrate', 'backup', 'restore', 'doctor', 'help']);
    for (const [group, names] of Object.entries(groups)) {
      expect(listed((await foyer(group, '--help')).out)).toEqual([...names, 'help']);
    }
  });

  it.each(commands.map((words) => [words.join(' '), words] as const))(
    'The help of foyer %s says what the command does, by example',
    async (name, words) => {
      const { code, out, err } = await foyer(...words, '--help');
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain(`Usage: foyer ${name}`);
      expect(out).toMatch(/--json/);
      expect(out).toMatch(new RegExp(`Examples?:\\n {2}foyer ${name}`));
      for (const exitCode of [0, 1, 2, 3, 4, 70]) expect(out).toMatch(new RegExp(`^ {2}${exitCode} +[a-z]`, 'm'));
    },
  );

  it('The word help shows the help as well', async () => {
    expect(await foyer('help', 'client')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Usage: foyer client'),
    });
  });
});

describe('a wrong command line', () => {
  it.each<[string, string[], RegExp]>([
    ['no command', [], /Usage: foyer/],
    ['half a command', ['client'], /Usage: foyer client/],
    ['an unknown command', ['klient'], /unknown command 'klient'\n\(Did you mean client\?\)/],
    ['an unknown command of a group', ['user', 'erase', 'x'], /unknown command 'erase'/],
    ['an unknown option', ['client', 'list', '--yaml'], /unknown option '--yaml'/],
    ['a missing argument', ['client', 'show'], /missing required argument 'id'/],
    ['an argument too many', ['client', 'show', 'a', 'b'], /too many arguments/],
    ['an option without its value', ['client', 'add', '--id'], /argument missing/],
    ['a number that is none', ['user', 'list', '--limit', 'all'], /--limit.*'all' is invalid/],
    ['nothing to change', ['client', 'update', 'shop'], /nothing to change/],
    ['no password', ['user', 'add', '--email', 'a@example.com'], /either --password <P> or --password-stdin/],
    ['two passwords', ['user', 'add', '--email', 'a@example.com', '--password', 'x', '--password-stdin'], /either/],
    ['an option that only update has', ['client', 'add', '--new-secret'], /unknown option/],
  ])('A command line with %s exits with 2 and writes to standard error', async (_what, argv, said) => {
    const { code, out, err } = await foyer(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(said);
  });

  it('A wrong command line gets the names of all missing options at once', async () => {
    const { code, err } = await foyer('client', 'add');
    expect(code).toBe(2);
    for (const flag of ['--id', '--name', '--redirect-uri']) expect(err).toContain(`required option '${flag}`);
  });
});

describe('a wrong configuration', () => {
  const broken: Cli = cliOn(
    { databaseUrl: 'mysql://db', redisUrl: '', dataDir: '' },
    { PORT: 'x', NODE_ENV: 'production' },
  );

  it('A wrong configuration gets the messages of the server, all faults at once, and the exit code 4', async () => {
    const { code, out, err } = await broken('client', 'list');
    expect({ code, out }).toEqual({ code: 4, out: '' });
    for (const name of ['DATABASE_URL', 'PORT', 'PUBLIC_URL', 'SEARCH_APP_URL', 'TRUST_PROXY'])
      expect(err).toContain(name);
    expect(err).not.toMatch(/\n\s+at /);
  });
});
