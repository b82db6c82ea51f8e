/** A sender: `Name <address>`, or only the address. */
interface MailSender {
  address: string;
  name?: string;
}

const address = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/;
const withName = /^([^<>@"\p{Cc}]{1,100}?)\s*<([^<>]+)>$/u;

/** Undefined if it is not one plain address: other texts could contain a second one. */
export function parseMailSender(text: string): MailSender | undefined {
  const [, name, inside] = withName.exec(text.trim()) ?? [];
  const bare = inside ?? text.trim();
  if (!address.test(bare) || bare.length > 254) return undefined;
  return name?.trim() ? { address: bare, name: name.trim() } : { address: bare };
}

const pair = /^([A-Za-z0-9][\w-]{0,63})=([\w-]{1,64})$/;

/** `name=id`, separated by commas; undefined if a part has another form, or a name occurs twice. */
export function parseMailTemplates(text: string): Map<string, string> | undefined {
  const parts = text.split(',').map((part) => pair.exec(part.trim()));
  const templates = new Map(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']));
  return parts.every(Boolean) && templates.size === parts.length ? templates : undefined;
}
