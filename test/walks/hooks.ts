import type { Hooks } from '../../server/hooks.ts';
import { createWrappedHooks } from '../support/subscribers.ts';
import type { Coverage } from './coverage.ts';

/** The files of `server/` that ran since the last time. A file that also ran outside of subscribers is in `files`. */
interface RanFiles {
  files: string[];
  subscriberFiles: string[];
}

/**
 * Hooks that measure each subscriber in the list of `wiring.ts` on its own. The requests of a walk run one after the
 * other, and no subscriber causes another event.
 */
export function measureHooks(coverage: Coverage): { hooks: Hooks; take(): Promise<RanFiles> } {
  const [outside, within] = [new Set<string>(), new Set<string>()];
  const collect = async (ran: Set<string>) => {
    for (const file of await coverage.take()) ran.add(file);
  };
  return {
    hooks: createWrappedHooks((act) => async (...event) => {
      await collect(outside);
      try {
        return await act(...event);
      } finally {
        await collect(within);
      }
    }),
    async take() {
      await collect(outside);
      const files = [...outside];
      const subscriberFiles = [...within].filter((file) => !outside.has(file));
      outside.clear();
      within.clear();
      return { files, subscriberFiles };
    },
  };
}
