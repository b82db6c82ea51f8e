/**
 * npm writes an optional package of another platform into package-lock.json only if the registry has it, but `npm ci`
 * refuses a lock file in which one is missing. Their versions are exact in the depending package, and their names
 * identify the platform, so the entries can be written without the registry.
 */

/**
 * @typedef {{ version?: string, optional?: boolean, dev?: boolean, resolved?: string, cpu?: string[], os?: string[],
 *   libc?: string[], optionalDependencies?: Record<string, string>, dependencies?: Record<string, string> }} LockEntry
 * @typedef {{ packages: Record<string, LockEntry> }} LockFile
 */

const OS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const CPU = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/**
 * @param {string} name such as "@node-rs/argon2-linux-arm64-musl"
 * @returns {Pick<LockEntry, 'cpu' | 'os' | 'libc'> | undefined} nothing if the name does not identify it
 */
export function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = OS.filter((word) => words.includes(word));
  const cpu = CPU.filter((word) => words.includes(word));
  if (cpu.length !== 1 || (os.length !== 1 && cpu[0] !== 'wasm32')) return undefined;
  const libc = words.includes('musl') ? { libc: ['musl'] } : words.includes('gnu') ? { libc: ['glibc'] } : {};
  return { cpu, ...(os.length === 1 && { os }), ...(os[0] === 'linux' && libc) };
}

/**
 * Tests whether Node would find `name` from the package at `path`: in its own node_modules or in an outer one.
 * @param {LockFile} lock
 * @param {string} path such as "node_modules/a/node_modules/b"; "" is the project itself
 * @param {string} name
 */
function resolves(lock, path, name) {
  const parts = path === '' ? [] : path.split(/(?:^|\/)node_modules\//).slice(1);
  return [...parts, ''].some((_part, index) => {
    const outer = parts.slice(0, parts.length - index);
    return lock.packages[[...outer, name].map((part) => `node_modules/${part}`).join('/')] !== undefined;
  });
}

/**
 * The optional packages that some package depends on and that have no entry.
 * @param {LockFile} lock
 * @returns {Array<{ name: string, version: string, dev: boolean }>}
 */
export function missingEntries(lock) {
  return Object.entries(lock.packages).flatMap(([path, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !resolves(lock, path, name))
      .map(([name, version]) => ({ name, version, dev: entry.dev === true })),
  );
}

/**
 * @param {LockFile} lock
 * @returns {LockFile} the same with every missing entry
 * @throws {Error} if version or platform is unknown
 */
export function completed(lock) {
  const packages = { ...lock.packages };
  for (const { name, version, dev } of missingEntries(lock)) {
    const platform = platformOf(name);
    if (!platform || !EXACT.test(version)) throw new Error(`${name} ${version}: platform or version cannot be told`);
    const { cpu, os, libc } = platform;
    packages[`node_modules/${name}`] = {
      version,
      cpu,
      ...(dev && { dev }),
      ...(libc && { libc }),
      optional: true,
      ...(os && { os }),
    };
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(sorted) };
}
