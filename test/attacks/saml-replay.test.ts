import { answerXml, arrive, beginSaml, inBase64, pathOf, postFromElsewhere } from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';
import { setUpSaml } from './saml-steps.ts';

const minuteMs = 60_000;

describe.each([anyBackend])('a wrong SAML answer', (backend) => {
  const context = setUpSaml(backend);
  const { isSignedIn, expectRefused } = context;

  it('An unsolicited SAML answer is refused, wherever its RelayState leads', async () => {
    for (const relayState of [
      '',
      'https://evil.example/',
      '//evil.example',
      'a'.repeat(43),
      `/?${'x'.repeat(5_000)}`,
    ]) {
      const attempt = await beginSaml(context.foyer);
      const xml = await answerXml(context.providers, attempt, { inResponseTo: null });
      const to = await arrive(context.foyer, { ...attempt, relayState }, xml);
      expect(to).not.toContain('evil.example');
      await expectRefused(attempt, to, 'foreign', 'unsolicited response');
    }
  });

  it('A replayed SAML answer is refused', async () => {
    const attempt = await beginSaml(context.foyer);
    const xml = await answerXml(context.providers, attempt, {
      nameId: 'replayed',
      attributes: { mail: 'replayed@corp.acme.example' },
    });
    const { pathname } = new URL(attempt.request.acsUrl);
    const fields = { SAMLResponse: inBase64(xml), RelayState: attempt.relayState };
    const [first, second] = [
      await postFromElsewhere(context.foyer, pathname, fields),
      await postFromElsewhere(context.foyer, pathname, fields),
    ];
    // One of the two is accepted.
    await attempt.browser.get(pathOf(first), { from: 'cross-site' });
    expect(await isSignedIn(attempt)).toBe(true);
    await attempt.browser.post('/logout');
    expect(pathOf(await attempt.browser.get(pathOf(second)))).toContain('federation:over');
    expect(pathOf(await attempt.browser.get(pathOf(first)))).toContain('federation:over');
    expect(await isSignedIn(attempt)).toBe(false);
    // The endpoint refuses the answer again, with the used attempt and with another one.
    await expectRefused(attempt, await arrive(context.foyer, attempt, xml), 'over', 'response to an expired attempt');
    const other = await beginSaml(context.foyer);
    await expectRefused(
      other,
      await arrive(context.foyer, other, xml),
      'invalid',
      'the response does not answer the request of this attempt',
    );
  });

  it('A SAML answer to another browser’s attempt signs in neither to an attacker’s account nor as a victim', async () => {
    const attacker = await beginSaml(context.foyer);
    const xml = await answerXml(context.providers, attacker, {
      nameId: 'attacker',
      attributes: { mail: 'attacker@corp.acme.example' },
    });
    const { pathname } = new URL(attacker.request.acsUrl);
    const fields = { SAMLResponse: inBase64(xml), RelayState: attacker.relayState };
    const posted = await postFromElsewhere(context.foyer, pathname, fields);
    const victim = await beginSaml(context.foyer);
    const to = pathOf(await victim.browser.get(pathOf(posted), { from: 'cross-site' }));
    await expectRefused(victim, to, 'foreign', 'attempt not open');
  });

  it('A late SAML answer is refused', async () => {
    const attempt = await beginSaml(context.foyer, { search: '?redirect=%2Fsettings' });
    context.foyer.passTime(16 * minuteMs);
    try {
      const to = await arrive(context.foyer, attempt, await answerXml(context.providers, attempt));
      expect(new URL(to, context.foyer.url).searchParams.get('redirect')).toBe('/settings');
      await expectRefused(attempt, to, 'over', 'response to an expired attempt');
    } finally {
      context.foyer.passTime(-16 * minuteMs);
    }
  });

  it('A SAML answer posted without a form, too long, twice or not in base64 is refused', async () => {
    const attempt = await beginSaml(context.foyer);
    const { pathname } = new URL(attempt.request.acsUrl);
    const RelayState = attempt.relayState;
    const json = await context.foyer
      .browser()
      .postJson(pathname, { SAMLResponse: 'x', RelayState }, { 'sec-fetch-site': 'cross-site' });
    expect(json.status).toBe(415);
    expect(
      (await postFromElsewhere(context.foyer, pathname, { SAMLResponse: 'A'.repeat(300_000), RelayState })).status,
    ).toBe(413);
    const twice = await context.foyer.browser().request(pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `SAMLResponse=QUFB&SAMLResponse=QUFB&RelayState=${RelayState}`,
    });
    expect(twice.status).toBe(400);
    for (const [SAMLResponse, detail] of [
      ['', 'there is no message'],
      ['<samlp:Response/>', 'the message is not in base64'],
      [Buffer.from('<a>é</a>', 'latin1').toString('base64'), 'the message is no text in UTF-8'],
      [Buffer.from('\ufeff<a/>', 'utf16le').toString('base64'), 'the message is no text in UTF-8'],
    ] as [string, string][]) {
      const posted = await postFromElsewhere(context.foyer, pathname, { SAMLResponse, RelayState });
      await expectRefused(attempt, pathOf(await attempt.browser.get(pathOf(posted))), 'invalid', detail);
    }
    // A message in the address is ignored, and no other endpoint of the library exists.
    const address = `${pathname}?SAMLResponse=QUFB`;
    expect((await context.foyer.browser().get(address)).status).toBe(404);
    const another = await beginSaml(context.foyer);
    const beside = await postFromElsewhere(context.foyer, address, { RelayState: another.relayState });
    await expectRefused(another, pathOf(await another.browser.get(pathOf(beside))), 'invalid', 'there is no message');
  });

  it('Repeated SAML answers to one attempt are read only a few times', async () => {
    const attempt = await beginSaml(context.foyer);
    const wrong = await answerXml(context.providers, attempt, { sign: 'none' });
    for (let n = 0; n < 5; n += 1) expect(await arrive(context.foyer, attempt, wrong)).toContain('federation:invalid');
    const right = await answerXml(context.providers, attempt);
    await expectRefused(
      attempt,
      await arrive(context.foyer, attempt, right),
      'too-many',
      'too many responses to one attempt',
    );
  });

  it('Repeated SAML answers to an attempt that is over store nothing for their sender', async () => {
    const attempt = await beginSaml(context.foyer);
    const right = await answerXml(context.providers, attempt);
    await arrive(context.foyer, attempt, right);
    const { pathname } = new URL(attempt.request.acsUrl);
    const ledTo: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const fields = { SAMLResponse: inBase64(right), RelayState: attempt.relayState };
      ledTo.push(pathOf(await postFromElsewhere(context.foyer, pathname, fields)).split(/[?#]/)[0] ?? '');
    }
    expect(ledTo).toEqual([...Array(4).fill('/federation/acme-saml/finish'), ...Array(4).fill('/')]);
  });
});
