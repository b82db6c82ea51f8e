import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { foreignFolder } from '../../scripts/lib/foreign.mjs';
import { locationOf } from '../support/browser.ts';
import type { ForeignClient, Variables } from './foreign-app.ts';
import { followInApp, readJson } from './member-acts.ts';

const run = promisify(execFile);
const python = (script: string) => () => ['/usr/bin/python3', `debian/${script}`];

async function startApache(_variables: Variables, folder: string): Promise<string[]> {
  // Apache reads its files as a user without rights.
  await chmod(folder, 0o755);
  const settings = ['-C', `Define FOLDER ${folder}`, '-f', join(folder, 'debian/apache.conf')];
  return ['/usr/sbin/apache2', ...settings, '-D', 'FOREGROUND'];
}

/** Debian's packages of Go are sources below /usr/share/gocode, without modules. */
const go =
  (script: string) =>
  async (_variables: Variables, folder: string): Promise<string[]> => {
    const settings = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(foreignFolder, 'go-cache') };
    const env = { PATH: process.env.PATH, HOME: folder, ...settings };
    await run('go', ['build', '-o', 'program', 'debian/go_app.go', `debian/${script}`], { cwd: folder, env });
    return [join(folder, 'program')];
  };

/** The clients that Debian has packages of. */
export const debianClients: readonly ForeignClient[] = [
  {
    name: 'Apache mod_auth_openidc',
    command: startApache,
    backChannel: '/callback?logout=backchannel',
    signOut: async (browser, app) =>
      locationOf(await browser.get(`${app.url}/callback?${new URLSearchParams({ logout: `${app.url}/` })}`)),
    async refreshes(browser, app) {
      const { accessToken } = Object(await readJson(app, await browser.get(`${app.url}/me`)));
      const query = new URLSearchParams({ refresh: `${app.url}/me`, access_token: String(accessToken) });
      const member = await readJson(app, await followInApp(browser, app, `/callback?${query}`));
      expect(Object(member).accessToken).not.toBe(accessToken);
      return member;
    },
  },
  { name: 'Authlib (Flask)', command: python('authlib_flask.py'), refreshes: true, validates: true },
  { name: 'Authlib (Django)', command: python('authlib_django.py'), validates: true },
  {
    name: 'omniauth-openid-connect',
    command: () => ['/usr/bin/ruby', 'debian/omniauth.rb'],
    register: { pkceOptional: true },
    callback: '/auth/openid_connect/callback',
    async begin(browser, app) {
      const page = await (await browser.get(`${app.url}/sign-in`)).text();
      const [, token = ''] = /name=authenticity_token value=([^>]+)>/.exec(page) ?? [];
      const fields = { authenticity_token: token };
      return locationOf(await browser.post(`${app.url}/auth/openid_connect`, fields, { origin: app.url }));
    },
  },
  {
    name: 'python3-social-django',
    command: python('social_django_site.py'),
    register: { pkceOptional: true },
    callback: '/complete/oidc/',
    begin: '/login/oidc/',
    refreshes: true,
  },
  {
    name: 'goth',
    command: go('go_goth.go'),
    register: { pkceOptional: true, nonceOptional: true },
    refreshes: true,
  },
  {
    name: 'coreos/go-oidc with x/oauth2',
    command: go('go_oidc.go'),
    refreshes: true,
    validates: true,
  },
];
