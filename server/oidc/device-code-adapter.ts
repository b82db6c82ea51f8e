import Provider, { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { specialLimits } from '../http/index.ts';
import { sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/**
 * RFC 8628, section 3.5: a device polls every five seconds; a little less is tolerated, because clocks and network
 * delays vary.
 */
const { key: pollKey, window: pollEveryMs } = specialLimits.devicePoll;

/** device-flow.ts recognizes it by this name. */
class CodeAlreadyUsedError extends errors.InvalidRequest {}

const isDecided = ({ accountId, error }: AdapterPayload) => accountId !== undefined || error !== undefined;

/**
 * Device codes (RFC 8628). The library reads whether a code is free and writes it later. Two browsers that type one
 * code at once would both continue, and the second user would replace the first, even after the device has its tokens.
 * So only one browser can claim a code, by confirming or refusing it, and the decision is final.
 */
export function deviceCodeAdapter(adapter: Adapter, kv: KeyValueStore): Adapter {
  async function requireState(step: 'taken' | 'decided', id: string, ttlMs: number): Promise<void> {
    if (!(await kv.setIfAbsent(`oidc:device-code-${step}:${sha256(id)}`, '1', ttlMs)))
      throw new CodeAlreadyUsedError('the code was used already');
  }
  return {
    ...adapter,
    async upsert(id, payload, expiresInSeconds = 0) {
      const ttlMs = Math.max(1, expiresInSeconds) * 1000;
      const decided = isDecided(payload);
      if (decided || payload.inFlight) await requireState(decided && payload.inFlight ? 'decided' : 'taken', id, ttlMs);
      await adapter.upsert(id, payload, expiresInSeconds);
    },
    async find(id) {
      const found = await adapter.find(id);
      const waits = found && !isDecided(found) && (found.exp ?? 0) > Date.now() / 1000;
      if (waits && Provider.ctx?.oidc.route === 'token') {
        const inTime = await kv.setIfAbsent(`${pollKey}:${sha256(id)}`, '1', pollEveryMs);
        if (!inTime) throw new errors.SlowDown();
      }
      return found;
    },
  };
}
