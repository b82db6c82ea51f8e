interface ChooserPageProps {
  /** "Google" */
  provider: string;
  /** The host of the requesting app. */
  app: string;
  /** The app's login hint. */
  hint?: string | undefined;
  /** The request's id in the form. */
  request: string;
  accounts: readonly { name: string; email: string | undefined; note: string | undefined }[];
  /** The faulty answers: their names for programs, and for people. */
  broken: readonly { title: string; ways: readonly (readonly [string, string])[] }[];
  /** Whether this provider sends `email_verified`. */
  saysVerified: boolean;
  action: string;
}

const initials = (name: string) =>
  name
    .split(/\s+/)
    .map((word) => word[0] ?? '')
    .join('')
    .slice(0, 2)
    .toUpperCase();

function Other({ hint, saysVerified }: Pick<ChooserPageProps, 'hint' | 'saysVerified'>) {
  return (
    <details open={hint !== undefined}>
      <summary>Use another account</summary>
      <div>
        <label htmlFor="name">Name</label>
        <input id="name" name="name" autoComplete="off" />
        <label htmlFor="email">Email (empty: none is given)</label>
        <input id="email" name="email" type="email" defaultValue={hint} autoComplete="off" />
        {saysVerified && (
          <label className="tick">
            <input type="checkbox" name="verified" value="1" defaultChecked />
            The email is confirmed
          </label>
        )}
        {!saysVerified && <input type="hidden" name="verified" value="1" />}
        <div className="end">
          <button type="submit" className="main" name="other" value="1">
            Continue
          </button>
        </div>
      </div>
    </details>
  );
}

/** The account chooser: selects the person of the response, or a fault. */
export function ChooserPage({
  provider,
  app,
  hint,
  request,
  accounts,
  broken,
  saysVerified,
  action,
}: ChooserPageProps) {
  return (
    <form method="post" action={action}>
      {/* The Enter key in the fields of another account activates the form's first button. */}
      <button type="submit" name="other" value="1" hidden />
      <p className="provider">{provider}</p>
      <h1>Choose an account</h1>
      <p className="soft">
        to continue to <strong>{app}</strong>
      </p>
      <input type="hidden" name="request" value={request} />
      <ul>
        {accounts.map(({ name, email, note }, index) => (
          <li key={name}>
            <button type="submit" className="account" name="person" value={index}>
              <span className="initials" aria-hidden="true">
                {initials(name)}
              </span>
              <span className="who">
                <span>{name}</span>
                <span className="soft">{[email, note].filter((part) => part !== undefined).join(', ')}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Other hint={hint} saysVerified={saysVerified} />
      <details>
        <summary>Answer wrongly</summary>
        <div>
          <p className="soft">
            What the app does when this provider fails, or when an attacker has changed its answer.
          </p>
          {broken.map(({ title, ways }) => (
            <section key={title}>
              <h2>{title}</h2>
              <ul className="broken">
                {ways.map(([how, words]) => (
                  <li key={how}>
                    <button type="submit" name="broken" value={how}>
                      {words}
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </details>
      <div className="end">
        <button type="submit" name="refuse" value="1">
          Cancel
        </button>
      </div>
    </form>
  );
}
