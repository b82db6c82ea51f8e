import { join } from 'node:path';
import { inspectRedis, inspectSqliteFile, inspectVisitorData } from '../../store/index.ts';
import { judgeClock, judgeMissing } from './checks-services.ts';
import {
  judgeAnswer,
  judgeNewFile,
  judgeRedis,
  judgeSqlite,
  judgeUnavailable,
  judgeVisitorData,
  maxReadBytes,
} from './checks-stores.ts';
import type { Finding } from './finding.ts';
import type { Setup } from './setup.ts';
import { defaultLimitMs } from './web.ts';

const area = 'key-value';

async function checkVisitorData({ config, unreadable }: Setup): Promise<Finding[]> {
  if (unreadable('VISITOR_DATA_MAX_MB')) return judgeMissing(area, ['VISITOR_DATA_MAX_MB']);
  const bytes = await inspectVisitorData(config.REDIS_URL, config.DATA_DIR);
  return bytes === undefined ? [] : judgeVisitorData(bytes, config.VISITOR_DATA_MAX_MB * 1_000_000);
}

/** Short-lived state: Redis, or the embedded file. */
export async function checkKeyValue(setup: Setup): Promise<Finding[]> {
  const { config, unreadable, say, now, web } = setup;
  if (unreadable('REDIS_URL')) return judgeMissing(area, ['REDIS_URL']);
  const { REDIS_URL: url } = config;
  const [name, variable] = url === undefined ? ['short-lived.db', 'DATA_DIR'] : ['Redis', 'REDIS_URL'];
  try {
    if (url === undefined) {
      const file = await inspectSqliteFile(join(config.DATA_DIR, name), maxReadBytes);
      return file ? [...judgeSqlite(area, name, file), ...(await checkVisitorData(setup))] : judgeNewFile();
    }
    const facts = await inspectRedis(url, { now, limitMs: web.limitMs ?? defaultLimitMs });
    const refusedWrite = facts.refusedWrite === undefined ? undefined : say(facts.refusedWrite);
    return [
      ...judgeAnswer(area, name, facts.pingMs),
      ...judgeRedis({ ...facts, refusedWrite }),
      ...(facts.clock ? judgeClock({ source: name, ...facts.clock }) : []),
      ...(await checkVisitorData(setup)),
    ];
  } catch (error) {
    return judgeUnavailable(area, { name, variable, reason: say(error) });
  }
}
