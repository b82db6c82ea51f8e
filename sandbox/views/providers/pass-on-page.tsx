/** Passes a message on to another site by the browser (SAML's HTTP-POST binding). */
export function PassOnPage({ address, fields }: { address: string; fields: Record<string, string> }) {
  return (
    <form method="post" action={address}>
      <h1>One moment</h1>
      <p className="soft">You are being taken back to the app.</p>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <div className="end">
        <button type="submit" className="main">
          Continue
        </button>
      </div>
    </form>
  );
}
