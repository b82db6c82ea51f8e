import { formatNumber } from '../../server/messages/index.ts';
import { askForPhone, fresh, leadsTo, phoneCode, phoneTo, rowOf, showPhoneCode } from '../account/contact/steps.ts';
import { read } from '../password/steps.ts';
import { backends } from '../support/stores.ts';
import { setUpContactChanges } from './contact-steps.ts';

describe.each(backends)('attack: another user’s address or number, on $name', (backend) => {
  const context = setUpContactChanges(backend);
  const { somebody } = context;

  it('Only the reader of its messages learns that a number belongs to another user, who keeps it', async () => {
    const { phone } = fresh();
    const victim = await somebody({ phone, phoneVerified: true });
    const mallory = await somebody();
    const free = fresh().phone;
    const answers = [];
    for (const number of [free, phone]) {
      const asked = await askForPhone(mallory.browser, number);
      const shown = await formatNumber(number);
      answers.push([
        leadsTo(asked),
        (await read(await mallory.browser.get('/settings/phone/code'))).replaceAll(shown, ''),
      ]);
    }
    expect(answers[1]).toEqual(answers[0]);
    const answer = await showPhoneCode(mallory.browser, await phoneCode(context.foyer, phone));
    expect([answer.status, await read(answer)]).toEqual([
      409,
      expect.stringContaining('Another account has this number'),
    ]);
    expect(await rowOf(context.foyer, victim.user)).toMatchObject({ phone, phoneVerified: 1 });
    expect((await rowOf(context.foyer, mallory.user)).phone).toBeNull();
  });

  it('Of two users who enter the codes of one number at once, one gets the number', async () => {
    const { phone } = fresh();
    const members = [];
    for (const member of [await somebody(), await somebody()]) {
      await askForPhone(member.browser, phone);
      members.push({ ...member, code: await phoneCode(context.foyer, phone) });
    }
    const answers = await Promise.all(members.map(({ browser, code }) => showPhoneCode(browser, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
  });

  it('An unverified number in another account does not keep its owner from adding it', async () => {
    const { phone } = fresh();
    const squatter = await context.foyer.addUser({ phone });
    const owner = await somebody();
    await phoneTo(context.foyer, owner.browser, phone);
    expect((await rowOf(context.foyer, owner.user)).phone).toBe(phone);
    expect((await rowOf(context.foyer, squatter)).phone).toBeNull();
  });
});
