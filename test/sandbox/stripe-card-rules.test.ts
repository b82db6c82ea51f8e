import { type CardField, checkField, findBrand, formatDigits, toDigits } from '../../sandbox/client/card-rules.ts';

const today = new Date('2026-11-22T12:00:00');
const look = (field: CardField, typed: string, number = '4242424242424242') => {
  const digits = toDigits(field, typed, number);
  return { ...checkField(field, { digits, number, today }), shown: formatDigits(field, digits) };
};

describe('the stand-in’s card number', () => {
  it.each([
    ['4242424242424242', 'visa', '4242 4242 4242 4242'],
    ['5555555555554444', 'mastercard', '5555 5555 5555 4444'],
    ['2223003122003222', 'mastercard', '2223 0031 2200 3222'],
    ['378282246310005', 'amex', '3782 822463 10005'],
    ['6011111111111117', 'discover', '6011 1111 1111 1117'],
    ['36227206271667', 'diners', '3622 720627 1667'],
    ['3566002020360505', 'jcb', '3566 0020 2036 0505'],
    ['6200000000000005', 'unionpay', '6200 0000 0000 0005'],
  ])('The number %s is a %s', (number, brand, text) => {
    expect(findBrand(number)).toBe(brand);
    expect(look('cardNumber', number)).toEqual({ empty: false, complete: true, shown: text });
    expect(look('cardNumber', `${text}99`).shown).toBe(text);
  });

  it('The number is wrong when it is complete with a wrong check digit, and not before', () => {
    expect(look('cardNumber', '4242 4242 4242 4241')).toMatchObject({ complete: false, fault: 'invalid_number' });
    expect(look('cardNumber', '4242 4242 4242 424')).toEqual({
      empty: false,
      complete: false,
      shown: '4242 4242 4242 424',
    });
    expect(look('cardNumber', 'no digits')).toEqual({ empty: true, complete: false, shown: '' });
  });
});

describe('the stand-in’s expiry', () => {
  it.each([
    ['11 / 26', '11 / 26'],
    ['1126', '11 / 26'],
    ['1/27', '12 / 7'],
    ['01/2030', '01 / 30'],
    ['4', '04'],
    ['12', '12'],
    ['123', '12 / 3'],
  ])('The typed expiry %s is shown as %s', (typed, text) => expect(look('cardExpiry', typed).shown).toBe(text));

  it.each([
    ['11 / 26', { complete: true }],
    ['10 / 26', { complete: false, fault: 'invalid_expiry_month_past' }],
    ['12 / 25', { complete: false, fault: 'invalid_expiry_year_past' }],
    ['13', { complete: false, fault: 'incomplete_expiry' }],
    ['00', { complete: false, fault: 'incomplete_expiry' }],
    ['12 / 2', { complete: false }],
  ])('The expiry %s is judged as complete, incomplete or past', (typed, judged) =>
    expect(look('cardExpiry', typed)).toEqual({ empty: false, shown: expect.any(String), ...judged }),
  );
});

it('The stand-in’s security code has the length of the card’s brand', () => {
  expect(look('cardCvc', '123')).toMatchObject({ complete: true, shown: '123' });
  expect(look('cardCvc', '12')).toMatchObject({ complete: false });
  expect(look('cardCvc', '1234').shown).toBe('123');
  expect(look('cardCvc', '123', '378282246310005')).toMatchObject({ complete: false });
  expect(look('cardCvc', '1234', '378282246310005')).toMatchObject({ complete: true, shown: '1234' });
});
