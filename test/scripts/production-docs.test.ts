import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { nodeSettings } from '../../scripts/lib/processes.mjs';

const text = readFileSync(join(import.meta.dirname, '../../docs/production.md'), 'utf8');
const envFile = '/etc/foyer/foyer.env';

/** The file that a command of the manual writes. */
function written(path: string): string {
  const [, content] = new RegExp(`cat > ${path} <<'END'\\n([\\s\\S]*?)\\nEND\\n`).exec(text) ?? [];
  if (content === undefined) throw new Error(`the manual does not write ${path}`);
  return content;
}

/** The content of a file of the repository that a command of the manual installs. */
function installed(name: string, path: string): string {
  expect(text).toContain(`/srv/foyer/app/config/systemd/${name} ${path}\n`);
  return readFileSync(join(import.meta.dirname, '../../config/systemd', name), 'utf8');
}

/** Values that a shell, systemd and Node do not all read alike. */
const hostile = `# a comment
  # another one
; one of systemd's
SECRET_KEY="two words, a # and a ; in it"
MAIL_FROM=Acme <no-reply@example.com>
BRAND_NAME='Café "Ü" $HOME \`id\`'
SMTP_URL="smtps://user:p#ss$w@smtp.example.com:465"
SEARCH_APP_URL=https://search.example.com/?a=1&b=2
HELP_URL=
DATA_DIR=/srv/foyer/data with spaces
LOG_LEVEL=info # behind it
export TRUST_PROXY=loopback
BRAND_LOGO_URL='https://cdn.example.com/a\\b "c".svg'
MAIN_APP_URL = https://www.example.com/$HOME/%h
;METRICS_PORT=9464
NODE_OPTIONS=--max-old-space-size=384 --max-semi-space-size=8
`;
const names = [...hostile.matchAll(/^[; ]?(?:export )?([A-Z_]+) ?=/gm)].map(([, name = '']) => name);

describe('docs/production.md', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'foyer-manual-'));
    const app = join(root, 'srv/foyer/app');
    mkdirSync(join(app, 'node_modules/.bin'), { recursive: true });
    mkdirSync(join(app, 'dist/server/cli'), { recursive: true });
    mkdirSync(join(root, 'etc/foyer'), { recursive: true });
    symlinkSync(process.execPath, join(app, 'node_modules/.bin/node'));
    for (const main of ['dist/server/main.js', 'dist/server/cli/main.js']) {
      writeFileSync(join(app, main), 'process.stdout.write(JSON.stringify(process.env));');
    }
    writeFileSync(join(root, envFile), hostile);
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** The manual's paths, below the folder of this test; its user does not exist here. */
  const here = (command: string) =>
    command
      .replaceAll('/srv/foyer/app', join(root, 'srv/foyer/app'))
      .replaceAll(envFile, join(root, envFile))
      .replace(/setpriv --reuid foyer --regid foyer --init-groups/, '');

  function environmentOf(run: { status: number | null; stdout: string; stderr: string }): Record<string, string> {
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    const all = JSON.parse(run.stdout) as Record<string, string>;
    return Object.fromEntries(names.map((name) => [name, all[name] ?? 'not set']));
  }

  it('The service, the Procfile, the container and npm start give the C library the same settings of malloc', () => {
    const settings = (line: string) =>
      [...line.matchAll(/\b(MALLOC_\w+)=(?:"\$\{\1:-)?(\d+)/g)].map(([, name, value]) => [name, value]);
    const [, start = ''] =
      /^ExecStart=(.*)$/m.exec(installed('foyer.service', '/etc/systemd/system/foyer.service')) ?? [];
    const [procfile, dockerfile] = ['Procfile', 'config/docker/Dockerfile'].map((file) =>
      settings(readFileSync(join(import.meta.dirname, '../..', file), 'utf8')),
    );
    const ofStart = Object.entries(nodeSettings({})).filter(([name]) => name.startsWith('MALLOC_'));
    expect(settings(start)).toEqual([
      ['MALLOC_ARENA_MAX', '2'],
      ['MALLOC_TRIM_THRESHOLD_', '262144'],
      ['MALLOC_MMAP_THRESHOLD_', '262144'],
    ]);
    expect([procfile, dockerfile, ofStart]).toEqual([settings(start), settings(start), settings(start)]);
  });

  it('The service and the operator’s command read foyer.env alike: quotes, comments, spaces, $ and #', () => {
    const unit = installed('foyer.service', '/etc/systemd/system/foyer.service');
    // One reader, and none of systemd's own: EnvironmentFile= has other rules (systemd.exec(5)). Without a shell, ExecStart=
    // is divided at spaces, and $ would be replaced (systemd.service(5), Command lines).
    expect(unit).not.toMatch(/^Environment|^ExecStart=.*[$"'%\\]/m);
    const [, start = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    expect(start).toContain(envFile);
    const [program = '', ...words] = here(start).split(' ');
    const service = environmentOf(
      spawnSync(program, words, { env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8', timeout: 20_000 }),
    );

    const wrapper = join(root, 'foyer');
    const script = installed('foyer', '/usr/local/bin/foyer');
    expect(script).toContain('setpriv --reuid foyer');
    writeFileSync(wrapper, here(script));
    chmodSync(wrapper, 0o755);
    // What the operator's own shell has set must not count.
    const shell = {
      PATH: '/usr/bin:/bin',
      SECRET_KEY: 'of the shell',
      NODE_ENV: 'development',
      HELP_URL: 'of the shell',
    };
    const command = environmentOf(spawnSync(wrapper, ['doctor'], { env: shell, encoding: 'utf8', timeout: 20_000 }));

    expect(command).toEqual(service);
    expect(service).toMatchObject({
      SECRET_KEY: 'two words, a # and a ; in it',
      MAIL_FROM: 'Acme <no-reply@example.com>',
      BRAND_NAME: 'Café "Ü" $HOME `id`',
      SMTP_URL: 'smtps://user:p#ss$w@smtp.example.com:465',
      HELP_URL: '',
      LOG_LEVEL: 'info',
      BRAND_LOGO_URL: 'https://cdn.example.com/a\\b "c".svg',
      MAIN_APP_URL: 'https://www.example.com/$HOME/%h',
      METRICS_PORT: 'not set',
    });
  });

  it('The operator’s command tells the audit trail the user of sudo, else of the login or the shell', () => {
    const wrapper = join(root, 'foyer-named');
    writeFileSync(wrapper, here(installed('foyer', '/usr/local/bin/foyer')));
    chmodSync(wrapper, 0o755);
    const operator = (environment: Record<string, string>) => {
      const env = { PATH: '/usr/bin:/bin', FOYER_OPERATOR: 'of the shell', ...environment };
      const { stdout } = spawnSync(wrapper, ['audit', 'list'], { env, encoding: 'utf8', timeout: 20_000 });
      return (JSON.parse(stdout) as Record<string, string>).FOYER_OPERATOR;
    };
    expect(operator({ SUDO_USER: 'ada' })).toBe('ada');
    const login = spawnSync('logname', { encoding: 'utf8' }).stdout.trim();
    expect(operator({})).toBe(login === '' ? userInfo().username : login);
  });

  it('The proxies of the page offer TLS 1.2 with the ciphers of RFC 9325, section 4.2, alone, and TLS 1.3', () => {
    const nginx = written('/etc/nginx/sites-available/foyer');
    expect(nginx).toMatch(/^ *ssl_protocols TLSv1\.2 TLSv1\.3;$/m);
    const ofNginx = /^ *ssl_ciphers (.*);$/m.exec(nginx)?.[1] ?? '';
    const ofCaddy = /^ *ciphers (.*)$/m.exec(text)?.[1] ?? '';
    const recommended = ['ECDSA', 'RSA'].flatMap((key) =>
      ['128_GCM_SHA256', '256_GCM_SHA384'].map((cipher) => `TLS_ECDHE_${key}_WITH_AES_${cipher}`),
    );
    expect(ofCaddy.split(' ').toSorted()).toEqual(recommended);
    const inOpenSsl = recommended.map((name) =>
      name.replace('TLS_', '').replace('WITH_AES_', 'AES').replaceAll('_', '-'),
    );
    expect(ofNginx.split(':').toSorted()).toEqual(inOpenSsl);
    expect(() => createSecureContext({ ciphers: ofNginx })).not.toThrow();
  });

  it('The page names the protection against user enumeration and says that printed credentials are refused', () => {
    expect(text).toContain('PREVENT_USER_EXISTENCE_ERRORS');
    expect(text).toMatch(/refuses to start with a credential\s+that is printed/);
  });
});
