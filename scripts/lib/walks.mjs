/**
 * Counts the modules and files that run in a walk: the requests of one user journey. A module is a folder of `server/`;
 * `wiring` means the files beside these folders.
 */

/**
 * @typedef {{ walk: string, request: string, files: string[], subscriberFiles: string[] }} RecordedRequest `files`: those
 * whose functions ran; `subscriberFiles`: others, whose functions ran only within subscribers to hooks
 */
/** @typedef {{ walk: string, request: string, modules: number, files: number }} Limit `request`: empty for all requests */
/**
 * @typedef {{ walk: string, request: string, filesByModule: Record<string, string[]>, modules: number, files: number,
 * subscribers: string[], uncounted: string[] }} Figures `subscribers`: files that ran only within subscribers to hooks.
 * Neither they nor `uncounted` are in `files`
 */

/** Every module uses them. */
const uncountedModules = ['shared', 'store'];

/** The request that decides each walk, with the most modules and files that may run in it. */
export const walkLimits = [
  { walk: 'sign-in', request: 'POST /sign-in', modules: 5, files: 36 },
  { walk: 'sign-in', request: '', modules: 10, files: 88 },
  { walk: 'code exchange', request: 'POST /oauth2/token', modules: 4, files: 26 },
  { walk: 'TOTP enrolment', request: 'POST /settings/mfa/totp/activate', modules: 7, files: 42 },
  { walk: 'purchase', request: 'POST /plan-purchase/:planId/addPayment', modules: 5, files: 61 },
  { walk: 'upgrade', request: 'POST /plan-purchase/:planId', modules: 5, files: 59 },
  { walk: 'federated sign-in', request: 'GET /federation/:provider/callback', modules: 9, files: 57 },
];

/** @param {string} file `server/<module>/…`, or a file beside the modules */
function findModule(file) {
  const [, module = '', ...rest] = file.split('/');
  return rest.length > 0 ? module : 'wiring';
}

/**
 * Does not count files that ran only within subscribers, which `server/wiring.ts` lists in their order.
 * @param {RecordedRequest[]} recorded
 * @param {{ walk: string, request: string }} of
 * @returns {Figures}
 */
export function countWalk(recorded, { walk, request }) {
  const requests = recorded.filter((one) => one.walk === walk && (request === '' || one.request === request));
  if (requests.length === 0) throw new Error(`nothing was recorded of ${walk} ${request}`);
  const called = new Set(requests.flatMap(({ files }) => files));
  const within = new Set(requests.flatMap(({ subscriberFiles }) => subscriberFiles));
  const all = [...new Set([...called, ...within])].toSorted();
  const uncounted = all.filter((file) => uncountedModules.includes(findModule(file)));
  const counted = all.filter((file) => called.has(file) && !uncounted.includes(file));
  /** @type {Record<string, string[]>} */
  const filesByModule = {};
  for (const file of counted) {
    const module = findModule(file);
    filesByModule[module] = [...(filesByModule[module] ?? []), file];
  }
  return {
    walk,
    request: request || `all ${requests.length} requests`,
    filesByModule,
    modules: Object.keys(filesByModule).length,
    files: counted.length,
    subscribers: all.filter((file) => !called.has(file) && !uncounted.includes(file)),
    uncounted,
  };
}

/**
 * @param {RecordedRequest[]} recorded
 * @param {readonly Limit[]} limits
 * @returns {string[]} one line for each walk that needs more than its limit
 */
export const findExcess = (recorded, limits = walkLimits) =>
  limits.flatMap((limit) => {
    const { walk, request, modules, files } = countWalk(recorded, limit);
    if (modules <= limit.modules && files <= limit.files) return [];
    const need = `needs ${modules} modules and ${files} files`;
    return [`${walk}, ${request}: ${need}, the limits are ${limit.modules} and ${limit.files}`];
  });

/** @param {Figures} figures @returns {string} the modules with the numbers of their files, the largest first */
function listModules({ filesByModule }) {
  const counts = Object.entries(filesByModule).map(([module, files]) => ({ module, count: files.length }));
  const sorted = counts.toSorted((one, other) => other.count - one.count || one.module.localeCompare(other.module));
  return sorted.map(({ module, count }) => `${module} ${count}`).join(', ');
}

/**
 * @param {readonly Figures[]} all
 * @returns {string} a table in Markdown
 */
export function walkTable(all) {
  const rows = all.map((figures) => {
    const { walk, request, modules, files, subscribers, uncounted } = figures;
    return [walk, request, modules, files, subscribers.length, uncounted.length, listModules(figures)];
  });
  const head = ['walk', 'request', 'modules', 'files', 'in subscribers only', 'not counted', 'files by module'];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}

/** @param {Figures} figures @returns {string} the names of all files, by module, in Markdown */
export function walkFiles({ walk, request, filesByModule, subscribers, uncounted }) {
  const parts = Object.entries({ ...filesByModule, 'in subscribers only': subscribers, 'not counted': uncounted });
  const lists = parts.map(([module, files]) => `- ${module} (${files.length}): ${files.join(', ')}`);
  return `\n## ${walk}: ${request}\n\n${lists.join('\n')}\n`;
}
