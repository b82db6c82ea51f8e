/** The hidden fields of the form with this field, as a browser sends them; {}: there is no such form. */
export function fieldsWith(html: string, name: 'dueCents' | 'days'): Record<string, string> {
  const forms = html.match(/<form .*?<\/form>/gs) ?? [];
  const form = forms.find((one) => one.includes(`type="hidden" name="${name}"`)) ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, field = '', value = '']) => [field, value]));
}
