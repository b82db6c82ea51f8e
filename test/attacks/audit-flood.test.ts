import { maxRefusalsPerAddress } from '../../server/audit/refusals.ts';
import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const attempts = 60;

describe.each(backends)('a flood of refused sign-ins on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('A stranger who tries many accounts adds a bounded number of events to the audit trail, and none for unknown ones', async () => {
    const users: User[] = [];
    while (users.length < 20) users.push(await foyer.addUser());
    const visitor = foyer.browser();
    for (let n = 0; n < attempts; n += 1) {
      const username = n % 3 === 2 ? `unknown${n}@example.com` : (users[n % users.length]?.email ?? '');
      await visitor.post('/sign-in', { username, password: `wrong ${n}` });
    }
    await foyer.app.audit.seal();
    const rows = await foyer.deps.database.db.selectFrom('auditEvents').select(['type', 'userId']).execute();
    expect(rows.filter(({ type }) => type === 'sign-in.refused')).toHaveLength(maxRefusalsPerAddress);
    expect(rows.filter(({ type }) => type === 'sign-in.refused-many')).toHaveLength(1);
    expect(rows).toHaveLength(maxRefusalsPerAddress + 1);
  });
});
