import { stripeSettings } from '../billing/gift-steps.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { plansWith } from '../support/plans.ts';
import { backends } from '../support/stores.ts';

const nowMs = Date.UTC(2026, 10, 28, 12);

interface Made {
  expiresAt: number;
  gifts: { id: string; code: string; link: string }[];
}

describe.each(backends)('foyer gift on $name', (backend) => {
  let foyer: Cli;
  let without: Cli;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    const reserved = await backend.reserve({ migrated: true });
    remove = reserved.remove;
    const sold = { ...stripeSettings, PUBLIC_URL: 'http://localhost:3900' };
    const PLANS_FILE = plansWith({ gifts: { months: [3, 12], plans: ['11', '13'] } });
    foyer = cliOn(reserved.urls, { ...sold, PLANS_FILE }, () => nowMs);
    without = cliOn(reserved.urls, sold, () => nowMs);
  });
  afterEach(() => remove());

  const create = (...more: string[]) => foyer('gift', 'create', '--plan', '11', '--months', '12', ...more);

  it('Codes are shown once with their links, and the list has them without', async () => {
    const made = (await create('--count', '3', '--json')).json() as Made;
    expect(made).toMatchObject({ plan: '11', months: 12, expiresAt: Date.UTC(2027, 10, 28, 12) });
    expect(new Set(made.gifts.map(({ code }) => code)).size).toBe(3);
    expect(made.gifts[0]?.link).toBe(`http://localhost:3900/gift?code=${made.gifts[0]?.code}`);
    const listed = await foyer('gift', 'list', '--json');
    expect(listed.json()).toMatchObject(made.gifts.toReversed().map(({ id }) => ({ id, planId: '11', state: 'open' })));
    for (const { code } of made.gifts) expect(listed.out).not.toContain(code);
    const text = await create('--valid-months', '60');
    expect(text.out).toMatch(
      /^1 code for Starter \(11\), 12 months each, to be redeemed before 2031-11-28T12:00:00\.000Z\./,
    );
    expect(text.out).toMatch(/http:\/\/localhost:3900\/gift\?code=[0-9A-Z-]{29}/);
  });

  it('A code is revoked by its id, or by the code as it may be typed, once', async () => {
    const { gifts } = (await create('--count', '2', '--json')).json() as Made;
    const [first, second] = gifts;
    expect(await foyer('gift', 'revoke', first?.id ?? '')).toMatchObject({ code: 0 });
    expect(await foyer('gift', 'revoke', (second?.code ?? '').toLowerCase())).toMatchObject({ code: 0 });
    const again = await foyer('gift', 'revoke', first?.id ?? '');
    expect(again).toMatchObject({ code: 1 });
    expect(again.err).toContain('is revoked already');
    expect(await foyer('gift', 'revoke', 'unknown')).not.toMatchObject({ code: 0 });
    expect((await foyer('gift', 'list')).out.match(/revoked/g)).toHaveLength(2);
  });

  it('The command refuses what the catalogue does not give, with every fault', async () => {
    const odd = await foyer('gift', 'create', '--plan', '10', '--months', '6');
    expect(odd).not.toMatchObject({ code: 0 });
    expect(odd.err).toContain('--plan: gifts are of 11, 13');
    expect(odd.err).toContain('--months: gifts are for 3, 12');
    const none = await without('gift', 'create', '--plan', '11', '--months', '12');
    expect(none.err).toContain('the catalogue has no gifts');
  });
});
