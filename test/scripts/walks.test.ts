import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { countWalk, findExcess, walkFiles, walkLimits, walkTable } from '../../scripts/lib/walks.mjs';
import { thorough } from '../support/thorough.ts';

const root = join(import.meta.dirname, '..', '..');
const [walk, request] = ['sign-in', 'POST /sign-in'];
const recorded = [
  { walk, request: 'GET /', files: ['server/http/pages.ts', 'server/app.ts'], subscriberFiles: [] },
  {
    walk,
    request,
    files: ['server/http/pages.ts', 'server/mfa/codes.ts', 'server/store/sqlite.ts', 'server/users/a.ts'],
    subscriberFiles: ['server/oidc/cookies.ts'],
  },
  { walk: 'purchase', request, files: ['server/billing/checkout/checkout-routes.ts'], subscriberFiles: [] },
];

describe('The report of the walks', () => {
  it('A walk counts the modules and files of its deciding request, without stores, shared code and subscribers', () => {
    expect(countWalk(recorded, { walk, request })).toEqual({
      walk,
      request,
      filesByModule: {
        http: ['server/http/pages.ts'],
        mfa: ['server/mfa/codes.ts'],
        users: ['server/users/a.ts'],
      },
      modules: 3,
      files: 3,
      subscribers: ['server/oidc/cookies.ts'],
      uncounted: ['server/store/sqlite.ts'],
    });
  });

  it('A file that runs in one request only within a subscriber counts when another request runs it by itself', () => {
    const other = { walk, request: 'GET /other', files: ['server/oidc/cookies.ts'], subscriberFiles: [] };
    const { files, subscribers } = countWalk([...recorded, other], { walk, request: '' });
    expect([files, subscribers]).toEqual([5, []]);
  });

  it('A walk without a deciding request counts each file of all its requests once', () => {
    const all = countWalk(recorded, { walk, request: '' });
    expect([all.request, all.modules, all.files]).toEqual(['all 2 requests', 4, 4]);
    expect(all.filesByModule).toMatchObject({ wiring: ['server/app.ts'], http: ['server/http/pages.ts'] });
  });

  it('A walk that was not recorded is an error, so that a renamed request does not pass the check', () => {
    expect(() => countWalk(recorded, { walk, request: 'POST /other' })).toThrow('nothing was recorded');
  });

  it('A walk is reported when its modules or its files exceed the limit, and not when it reaches the limit', () => {
    const excess = (modules: number, files: number) => findExcess(recorded, [{ walk, request, modules, files }]);
    expect(excess(3, 3)).toEqual([]);
    expect(excess(2, 3)).toEqual(['sign-in, POST /sign-in: needs 3 modules and 3 files, the limits are 2 and 3']);
    expect(excess(3, 2)).toHaveLength(1);
  });

  it('The table and the lists name the modules with their files', () => {
    const figures = countWalk(recorded, { walk, request });
    expect(walkTable([figures])).toContain('| sign-in | POST /sign-in | 3 | 3 | 1 | 1 | http 1, mfa 1, users 1 |\n');
    expect(walkFiles(figures)).toContain('- mfa (1): server/mfa/codes.ts\n');
  });

  thorough(
    'No walk runs more modules or files of the server than its limits allow',
    async () => {
      const args = ['scripts/walks.mjs', '--check'];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 240_000 });
      for (const limit of walkLimits) expect(stdout).toContain(`| ${limit.walk} | ${limit.request}`);
    },
    120_000,
  );
});
