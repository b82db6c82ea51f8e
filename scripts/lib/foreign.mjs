/**
 * The packages of the foreign client apps (test/foreign/), which are no part of the product: those of npm in a folder of
 * their own, those of Debian on the machine.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, root, runTool } from './processes.mjs';

/** Debian's packages with clients that no npm package has, and what runs them. */
export const debianPackages = [
  ...['apache2', 'libapache2-mod-auth-openidc', 'curl', 'nginx'],
  ...[
    'openjdk-17-jre-headless',
    'python3-authlib',
    'python3-certifi',
    'python3-dateutil',
    'python3-django',
    'python3-flask',
    'python3-jose',
    'python3-requests',
    'python3-social-django',
    'python3-urllib3',
  ],
  ...['ruby-omniauth-openid-connect', 'ruby-webrick'],
  ...['golang-go', 'golang-github-coreos-go-oidc-dev', 'golang-golang-x-oauth2-dev'],
  'golang-github-markbates-goth-dev',
  ...['simplesamlphp', 'php-cli', 'php-xml', 'python3-pysaml2', 'xmlsec1'],
];

const toField = (/** @type {string} */ name) => `$\{${name}}`;
const format = `${toField('Package')} ${toField('db:Status-Status')}\n`;

/** @returns {string[]} all of them where the machine has no Debian */
export function findMissingPackages() {
  const args = ['--show', '--showformat', format, ...debianPackages];
  const { stdout } = spawnSync('dpkg-query', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = new Set((stdout ?? '').split('\n'));
  return debianPackages.filter((name) => !lines.has(`${name} installed`));
}

/** Outside of test/, whose files other checks read; a new install of the product's packages empties it. */
export const foreignFolder = join(root, 'node_modules/.cache/foreign-clients');
const listFiles = ['package.json', 'package-lock.json'];
const source = join(root, 'test/foreign/packages');

/** npm writes its own record when an install is complete. */
export function isForeignInstalled() {
  const [lock = ''] = listFiles.slice(-1);
  const isThere = existsSync(join(foreignFolder, 'node_modules/.package-lock.json'));
  return isThere && readFileSync(join(foreignFolder, lock), 'utf8') === readFileSync(join(source, lock), 'utf8');
}

/** Installs the npm packages, if they are not there. @throws {Failure} if npm fails */
export async function installForeign() {
  if (isForeignInstalled()) return;
  console.error('foyer: installing the packages of the foreign client apps (npm ci), which takes a minute ...');
  rmSync(foreignFolder, { recursive: true, force: true });
  mkdirSync(foreignFolder, { recursive: true });
  for (const name of listFiles) copyFileSync(join(source, name), join(foreignFolder, name));
  const args = ['ci', '--prefix', foreignFolder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await runTool('npm', args);
  if (!isForeignInstalled())
    throw new Failure('npm did not install the packages of test/foreign/packages/package-lock.json');
}
