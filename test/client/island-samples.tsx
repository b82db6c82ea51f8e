import type { ReactElement } from 'react';
import { CardForm } from '../../views/billing/card-form.tsx';
import { PaymentAction } from '../../views/billing/payment-action.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { CodeInput } from '../../views/parts/code-input.tsx';
import { CopyButton, PrintButton } from '../../views/parts/copy-button.tsx';
import { DialogLink } from '../../views/parts/dialog.tsx';
import { Field } from '../../views/parts/field.tsx';
import { NewPassword } from '../../views/parts/new-password.tsx';
import { PassingNotice } from '../../views/parts/passing-notice.tsx';
import { PasswordField } from '../../views/parts/password-field.tsx';
import { ProfileMenu } from '../../views/parts/profile-menu.tsx';
import { Resend, ResendForm } from '../../views/parts/resend.tsx';
import { SavedCodes } from '../../views/parts/saved-codes.tsx';
import { Script } from '../../views/parts/script.tsx';
import { Segmented } from '../../views/parts/segmented.tsx';
import { Tabs } from '../../views/parts/tabs.tsx';
import { SavingToggle } from '../../views/parts/toggle.tsx';
import { stripeInSamples } from '../views/samples/payment.tsx';

/** Texts that would break out of an attribute, a script or an encoding, if any could. */
const nasty = `"'<img src=x onerror=alert(1)></script><!-- &quot; &amp; \\ ü 🚪 \u2028 {{name}}`;
const code = { name: 'code', label: 'Code', length: 6, incomplete: 'Enter all 6 digits.' } as const;
const panels = ['info', 'devices', 'mfa'];

function Panels({ shown }: { shown: string }) {
  return panels.map((panel) => (
    <div key={panel} id={panel} hidden={panel !== shown}>
      Panel {panel}
    </div>
  ));
}

/** Every island with the props that make it look or act differently, and what it needs around it. */
export function islandSamples(ctx: PageContext): Record<string, ReactElement> {
  const tabs = panels.map((panel) => ({ panel, label: `Tab ${panel}`, href: `?tab=${panel}` }));
  const options = [
    { value: 'month', label: 'Monthly', panel: 'info' },
    { value: 'year', label: 'Annual', panel: 'devices' },
  ];
  const member = { name: 'Vera Fyfe', email: 'vera@example.com', initials: 'VF' };
  const ways = { dashboard: '/dashboard', search: '/search', wallet: '/wallet', security: '/settings' };
  return {
    'password field': (
      <form className="form" method="post" action="/echo">
        <PasswordField ctx={ctx} name="password" label="Password" autoComplete="current-password" />
        <button type="submit">Send</button>
      </form>
    ),
    'password field with an error': <PasswordField ctx={ctx} name="again" label={nasty} error={nasty} hint={nasty} />,
    'new password': (
      <form className="form" method="post" action="/echo">
        <Field name="email" label="E-mail" />
        <NewPassword ctx={ctx} name="password" label="New password" fields={{ email: 'email' }} />
        <button type="submit">Send</button>
      </form>
    ),
    'new password with an error': (
      <NewPassword ctx={ctx} name="again" label={nasty} error={nasty} hint={nasty} known={{ email: nasty }} />
    ),
    'profile menu': <ProfileMenu ctx={{ ...ctx, links: ways }} member={member} signOutAction="/logout" />,
    'profile menu with a picture': (
      <ProfileMenu
        ctx={{ ...ctx, links: {} }}
        member={{ ...member, name: nasty, pictureUrl: ctx.assets.icon }}
        signOutAction="/logout"
      />
    ),
    dialog: <DialogLink ctx={ctx} href="/edit-name" label="Edit name" closeLabel="Close" />,
    'dialog of something shown once': (
      <DialogLink ctx={ctx} href="/edit-name" label="Edit name" closeLabel="Close" once />
    ),
    'dialog that has gone': <DialogLink ctx={ctx} href="/nothing-to-lift" label={nasty} closeLabel={nasty} />,
    'notice that passes': <PassingNotice ctx={ctx} kind="success" text="Saved." durationMs={2_000} />,
    'notice with markup': <PassingNotice ctx={ctx} kind="error" text={nasty} durationMs={60_000} />,
    'code input': (
      <form method="post" action="/echo">
        <CodeInput ctx={ctx} {...code} />
        <button type="submit">Confirm</button>
      </form>
    ),
    'code input that is alone': (
      <form method="post" action="/echo">
        <Script ctx={ctx} entry="busy" />
        <CodeInput ctx={ctx} {...code} isAlone />
        <button type="submit">Confirm</button>
      </form>
    ),
    'code input that is filled in': (
      <form method="post" action="/echo">
        <CodeInput ctx={ctx} {...code} value="123456" isAlone />
        <button type="submit">Confirm</button>
      </form>
    ),
    'code input with error and hint': <CodeInput ctx={ctx} {...code} error="Wrong." hint="From your app." autoFocus />,
    resend: (
      <>
        <Resend ctx={ctx} action="/echo" question="No code?" label="Resend" waitSeconds={2} waitText="again in % s" />
        <ResendForm action="/echo" />
      </>
    ),
    'resend at once': (
      <Resend ctx={ctx} action="/echo" question={nasty} label={nasty} waitSeconds={0} waitText={nasty} />
    ),
    tabs: (
      <>
        <Tabs ctx={ctx} label="Profile" tabs={tabs} chosen="info" />
        <Panels shown="info" />
      </>
    ),
    'tabs at the second': (
      <>
        <Tabs ctx={ctx} label={nasty} tabs={tabs} chosen="devices" />
        <Panels shown="devices" />
      </>
    ),
    'segmented choice': (
      <form method="get" action="/echo">
        <Segmented ctx={ctx} name="period" legend="Period" options={options} chosen="month" />
        <button type="submit" className="without-script">
          Show
        </button>
        <Panels shown="info" />
      </form>
    ),
    'segmented choice without panels': (
      <Segmented ctx={ctx} name="kind" legend={nasty} options={[{ value: nasty, label: nasty }]} chosen={nasty} />
    ),
    'toggle off': (
      <form method="post" action="/echo">
        <SavingToggle ctx={ctx} name="news" label="Newsletter" checked={false} />
        <button type="submit" className="without-script">
          Save
        </button>
      </form>
    ),
    'toggle on': <SavingToggle ctx={ctx} name="mfa" label={nasty} checked={true} />,
    'copy button': (
      <>
        <code id="recovery">abcd-efgh</code>
        <CopyButton ctx={ctx} source="recovery" label="Copy" doneLabel="Copied" />
      </>
    ),
    'card form': (
      <CardForm
        ctx={ctx}
        stripe={{ ...stripeInSamples, locale: 'en' }}
        action="/echo"
        setupUrl="/echo"
        fields={{ act: nasty }}
        saveNote={nasty}
      />
    ),
    'payment form': (
      <CardForm
        ctx={ctx}
        stripe={{
          ...stripeInSamples,
          methods: { types: ['card', 'link'], applePay: true, googlePay: true, currency: 'eur' },
          locale: 'en',
        }}
        action="/echo"
        setupUrl="/echo"
        fields={{ act: nasty }}
        saveNote={nasty}
      />
    ),
    'payment action': (
      <PaymentAction
        ctx={ctx}
        {...stripeInSamples}
        locale="en"
        action="/echo"
        clientSecret="pi_sample_secret_sample"
        retryFields={{ act: nasty }}
        otherCardHref="/echo"
        hostedInvoiceUrl="/echo"
      />
    ),
    'print button': <PrintButton ctx={ctx} label={nasty} />,
    'saved codes': <SavedCodes ctx={ctx} saved={nasty} next={nasty} question={nasty} />,
    'copy button of nothing': <CopyButton ctx={ctx} source="no-such" label={nasty} doneLabel={nasty} />,
  };
}
