import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStripe, syncPlans } from '../../server/billing/index.ts';
import type { Hooks } from '../../server/hooks.ts';
import { startFoyer } from '../support/foyer.ts';
import { startProviders } from '../support/providers.ts';
import { relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { startStripe, stripeKeys } from '../support/stripe.ts';
import { startCoverage } from './coverage.ts';
import { measureHooks } from './hooks.ts';
import { type Recorder, type Setting, walkAll } from './journeys.ts';

/** One request of a walk, with the files whose functions ran in it. */
interface RecordedRequest {
  walk: string;
  request: string;
  files: string[];
  /** Files that ran only within subscribers to hooks, and are not in `files`. */
  subscriberFiles: string[];
}

/** Time for the work after a response, such as the log line of the request. */
const settleMs = 60;

/** Opens a Foyer without the sandbox, with everything that the walks need. */
async function openSetting(hooks: Hooks): Promise<Setting & { close(): Promise<void> }> {
  const standIn = await startStripe({ checked: false });
  const providers = await startProviders();
  const foyer = await startFoyer(
    anyBackend,
    {
      ...standIn.environment(),
      ...providers.environment(),
      SANDBOX: 'false',
      SEARCH_APP_URL: 'http://localhost:9/',
      // No periodic job may run within a request.
      KEYS_REFRESH_SECONDS: '300',
    },
    { billingNow: () => standIn.engine.nowMs(), hooks },
  );
  // The same for the sealer, which runs every second; requests only write to its queue.
  await foyer.app.audit.stop();
  const stripe = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: standIn.url });
  await syncPlans(stripe, foyer.app.membership.catalogue);
  const registered = await foyer.addClient();
  const client = { ...(await relyingParty(foyer, registered)), secret: registered.secret ?? '' };
  return {
    shop: { foyer, standIn },
    providers,
    client,
    async close() {
      await foyer.close();
      await providers.close();
      await standIn.close();
    },
  };
}

/**
 * Walks every walk twice, and records the second time: the first fills caches and starts libraries.
 * @param file gets the recorded requests as JSON
 */
export async function recordWalks(file: string): Promise<void> {
  const coverage = await startCoverage();
  const { hooks, take } = measureHooks(coverage);
  const setting = await openSetting(hooks);
  try {
    await walkAll(setting, () => (_label, act) => act());
    await writeFile(file, JSON.stringify(await recordSecondTime(setting, take)));
  } finally {
    coverage.stop();
    await setting.close();
  }
}

type RanFiles = Pick<RecordedRequest, 'files' | 'subscriberFiles'>;

async function recordSecondTime(setting: Setting, take: () => Promise<RanFiles>): Promise<RecordedRequest[]> {
  const recorded: RecordedRequest[] = [];
  const record: Recorder = (walk) => async (request, act) => {
    await sleep(settleMs);
    await take();
    const response = await act();
    await sleep(settleMs);
    recorded.push({ walk, request, ...(await take()) });
    return response;
  };
  await walkAll(setting, record);
  return recorded;
}
