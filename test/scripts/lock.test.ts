import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { holderText, isAlive, tryLock, withLock } from '../../scripts/lib/lock.mjs';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(folder, 'dist/.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the lock of a tree', () => {
  it('The lock has one holder and is free again afterwards, also after a failure', async () => {
    const failing = withLock(path, fail, async () => {
      expect(isAlive(readFileSync(path, 'utf8'))).toBe(true);
      expect(tryLock(path)).toBe(false);
      throw new Error('build failed');
    });
    await expect(failing).rejects.toThrow('build failed');
    expect(readdirSync(join(folder, 'dist'))).toEqual([]);
  });

  it('A waiting process gets the id of the holder', async () => {
    const waits: string[] = [];
    const order: string[] = [];
    let release = () => {};
    const first = withLock(path, fail, () => new Promise<void>((resolve) => (release = resolve)));
    const second = withLock(
      path,
      (pid: string) => {
        waits.push(pid);
        order.push('first ends');
        release();
      },
      async () => void order.push('second begins'),
    );
    await Promise.all([first, second]);
    expect(waits).toEqual([String(process.pid)]);
    expect(order).toEqual(['first ends', 'second begins']);
  });

  it('A lock of a dead holder counts as free', async () => {
    const { pid } = spawnSync('true');
    expect(tryLock(path)).toBe(true);
    writeFileSync(path, `${pid} 12345\n`);
    await expect(withLock(path, fail, async () => 'mine')).resolves.toBe('mine');
  });

  it('A lock counts as free when a later process has the id of the dead holder', () => {
    expect(isAlive(holderText(process.pid))).toBe(true);
    expect(isAlive(`${process.pid} 1\n`)).toBe(false);
  });

  it.each(['', 'nonsense', '-1 5\n', '0 5\n'])('A lock with the content %j counts as free', (content) => {
    expect(isAlive(content)).toBe(false);
  });

  it('Processes that start together over a dead lock never hold it at the same time', async () => {
    expect(tryLock(path)).toBe(true);
    writeFileSync(path, '999999999 1\n');
    const module = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/lock.mjs')).href;
    const script = `
      import { withLock } from ${JSON.stringify(module)};
      import { rmSync, writeFileSync } from 'node:fs';
      for (let turn = 0; turn < 5; turn += 1) await withLock(${JSON.stringify(path)}, () => {}, async () => {
        writeFileSync(${JSON.stringify(join(folder, 'inside'))}, '', { flag: 'wx' });
        await new Promise((resolve) => setTimeout(resolve, 2));
        rmSync(${JSON.stringify(join(folder, 'inside'))});
      });`;
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(existsSync(path)).toBe(false);
  });
});

function fail(): never {
  throw new Error('nobody else holds it');
}
