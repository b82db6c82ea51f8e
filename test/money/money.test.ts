import { randomInt } from 'node:crypto';
import { inspect } from 'node:util';
import { readSpeed } from '../../scripts/lib/test-selection.mjs';
import { printFinding } from './findings.ts';
import { runWorld } from './run.ts';
import { openShop, type Shop } from './shop.ts';

/**
 * An oracle of money that is independent of the product: it reads the objects of the stand-in for Stripe and what members
 * see from outside (pages, mails, the JSON API), and imports nothing of server/billing. `npm run money` does 5,000
 * operations with other seeds each time; a failure prints the command that repeats its world.
 */

const { MONEY_OPERATIONS, MONEY_SEED, MONEY_KILLS } = process.env;
const isThorough = readSpeed(process.env) === 'all';
const operations = Number(MONEY_OPERATIONS ?? (isThorough ? 320 : 40));
const seed = Number(MONEY_SEED ?? (MONEY_OPERATIONS === undefined ? 1 : randomInt(2 ** 31)));
/** The share of the acts during which the product is killed: about half of these meet a request. */
const kills = Number(MONEY_KILLS ?? 0.25);
const worldSize = 40;
const maxReports = 50;

describe('money, judged from outside', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  }, 60_000);
  afterAll(() => shop?.close());

  it(
    'Members are charged exactly the announced amounts, whatever they do and whatever fails',
    async () => {
      const reports: string[] = [];
      const counts: Record<string, number> = {};
      const beganMs = performance.now();
      let [done, killed] = [0, 0];
      const tell = (line: string) => MONEY_OPERATIONS !== undefined && process.stderr.write(`${line}\n`);
      const report = (text: string) => tell(reports[reports.push(text) - 1] ?? '');
      for (let world = seed; done < operations && reports.length < maxReports; world += 1) {
        const size = Math.min(worldSize, operations - done);
        const command = `MONEY_SEED=${world} MONEY_OPERATIONS=${size} MONEY_KILLS=${kills} npm run money`;
        const result = await runWorld(shop, { seed: world, operations: size, kills }).catch((error: unknown) => {
          report(`the world of seed ${world} broke: ${inspect(error)}\n  repeat: ${command}`);
        });
        if (!result) continue;
        done += result.operations;
        killed += result.kills;
        for (const finding of result.findings) {
          counts[finding.rule] = (counts[finding.rule] ?? 0) + 1;
          report(`${printFinding(finding)}\n  repeat: ${command}`);
        }
        tell(`seed ${world}: ${done} operations, ${killed} kills`);
      }
      const seconds = Math.round((performance.now() - beganMs) / 1_000);
      console.info(
        `seed ${seed}: ${done} operations, ${killed} kills, ${seconds} s, findings ${JSON.stringify(counts)}`,
      );
      if (reports.length > 0) throw new Error(reports.join('\n\n'));
    },
    60_000 + operations * 1_000,
  );
});
