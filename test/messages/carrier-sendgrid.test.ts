import { sendGridCarrier } from '../../server/messages/carrier-sendgrid.ts';
import { PermanentDeliveryError } from '../../server/messages/index.ts';
import { failureOf, options, rendered } from './carrier-steps.ts';
import { startSendGrid } from './stand-in-sendgrid.ts';

describe('the carrier SendGrid', () => {
  const apiKey = 'SG.test-key.for-tests';
  let sendGrid: Awaited<ReturnType<typeof startSendGrid>>;
  const carrier = () => sendGridCarrier({ apiKey, url: sendGrid.url });
  beforeEach(async () => {
    sendGrid = await startSendGrid(apiKey);
  });
  afterEach(() => sendGrid.close());

  it('The SendGrid carrier sends rendered mails unchanged, without tracking, with the key', async () => {
    await carrier().send(rendered, options);
    expect(sendGrid.faults).toEqual([]);
    expect(sendGrid.received[0]?.headers['x-message-id']).toBe(options.idempotencyKey);
    expect(sendGrid.received[0]?.body).toEqual({
      personalizations: [{ to: [{ email: 'ada@example.com' }] }],
      from: { email: 'no-reply@example.com', name: 'Foyer & Söhne' },
      reply_to: { email: 'help@example.com' },
      subject: rendered.subject,
      content: [
        { type: 'text/plain', value: '123456' },
        { type: 'text/html', value: '<p>123456</p>' },
      ],
      headers: { 'X-Message-Id': options.idempotencyKey },
      custom_args: { message_id: options.idempotencyKey },
      tracking_settings: { click_tracking: { enable: false, enable_text: false }, open_tracking: { enable: false } },
    });
  });

  it('The SendGrid carrier sends templates of both generations with their merge variables', async () => {
    const { to, from } = rendered;
    const values = { fullname: 'Ada', total_Amount: '1' };
    await carrier().send({ to, from, templateId: 'd-1', values }, options);
    await carrier().send({ to, from, templateId: 'old-1', values }, options);
    expect(sendGrid.faults).toEqual([]);
    const [fresh, old] = sendGrid.received.map(({ body }) => body);
    expect(fresh).toMatchObject({ template_id: 'd-1', personalizations: [{ dynamic_template_data: values }] });
    // Older templates write variables this way.
    const substitutions = { '{{fullname}}': 'Ada', '{{total_Amount}}': '1' };
    expect(old).toMatchObject({ template_id: 'old-1', personalizations: [{ substitutions }] });
    expect(fresh?.content).toBeUndefined();
  });

  it.each([
    [400, 'personalizations.0.to.0.email', true],
    [400, 'from.email', false],
    [400, null, false],
    [413, null, true],
    [401, null, false],
    [429, null, false],
    [503, null, false],
  ] as const)('A %i of SendGrid about %s is a permanent failure: %s', async (status, field, permanent) => {
    sendGrid.refuse({ status, errors: [{ message: 'not like this', field }] });
    const failure = await failureOf(carrier().send(rendered, options));
    expect(failure?.message).toContain(`SendGrid ${status}: not like this`);
    expect(failure?.message).not.toContain(apiKey);
    expect(failure instanceof PermanentDeliveryError).toBe(permanent);
  });

  it('A SendGrid that is away is tried again', async () => {
    const { url } = sendGrid;
    await sendGrid.close();
    const failure = await failureOf(sendGridCarrier({ apiKey, url }).send(rendered, options));
    expect(failure?.message).toContain('ECONNREFUSED');
    expect(failure).not.toBeInstanceOf(PermanentDeliveryError);
    sendGrid = await startSendGrid(apiKey);
  });
});
