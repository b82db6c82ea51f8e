import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePlans, shippedPlansFile } from '../../config/plans.ts';

/** The shipped file with another block. */
const withBlock = (block: object): string =>
  JSON.stringify({ ...JSON.parse(readFileSync(shippedPlansFile, 'utf8')), ...block });

describe('the examples of the catalogue', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8');

  it('The block `tax` in config/example.env is accepted, and adds the tax to the amounts', () => {
    const [, block = ''] = /block ("tax": \{.*?\})/.exec(read('config/example.env')) ?? [];
    const file = parsePlans(withBlock(JSON.parse(`{${block}}`)), 'plans.json');
    expect(file.tax).toEqual({ automatic: true, behaviour: 'exclusive' });
  });

  it('Each example of a block in docs/plans.md is accepted', () => {
    const rows = [...read('docs/plans.md').matchAll(/^\| `(\w+)` \|.*?`(\{.*?\})`/gm)];
    expect(rows.map(([, name]) => name)).toEqual(['pause', 'gifts', 'consumers', 'tax', 'seats']);
    for (const [, name = '', example = ''] of rows) {
      const value: unknown = JSON.parse(example);
      // It belongs to a plan.
      if (name === 'seats') {
        const plans = parsePlans(withBlock({}), 'plans.json').plans.map((plan) =>
          plan.kind === 'paid' ? { ...plan, seats: value } : plan,
        );
        const read = parsePlans(withBlock({ plans }), 'plans.json').plans.filter(({ kind }) => kind === 'paid');
        expect(read).toContainEqual(expect.objectContaining({ seats: value }));
        continue;
      }
      expect(parsePlans(withBlock({ [name]: value }), 'plans.json')).toMatchObject({
        [name]: value,
      });
    }
  });
});
