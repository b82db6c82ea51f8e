/** Token claims by name, as they came. */
export function ClaimList({ claims }: { claims: Record<string, unknown> }) {
  return (
    <dl className="claims">
      {Object.entries(claims).map(([name, value]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}
