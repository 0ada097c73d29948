const firstNames =
  'Ada Alan Amara Anders Barbara Bruno Chloe Clara Daniel Diego Dorothy Edsger Elif Emma Ethan Fatima Felix Grace Hannah Hugo Ines Isaac Jamal Jonas Katherine Kenji Lea Liam Linus Lucia Margaret Marie Mateo Maya Mira Nadia Noah Nora Olga Omar Paulo Priya Radia Ravi Rosa Samuel Sofia Tariq Theo Tomas Uma Viktor Wanda Yara Yusuf Zoe'.split(
    ' ',
  );
const lastNames =
  'Adams Almeida Andersen Baker Bauer Bianchi Castro Chen Costa Dubois Evans Fischer Garcia Haddad Hoffmann Hopper Ivanova Jansen Johnson Kaya Keller Khan Kowalski Lamarr Larsen Lopez Lovelace Martin Meyer Moreau Murphy Nguyen Novak Okafor Olsen Patel Perez Quinn Rossi Santos Sato Schmidt Silva Singh Tanaka Turing Vargas Virtanen Walker Weber Young Zhang'.split(
    ' ',
  );

/** Reserved names (RFC 2606 section 2): mail to them can't reach anyone. Weighted by how often they occur. */
const domains = [
  ...Array.from({ length: 8 }, () => 'gmail.example'),
  ...Array.from({ length: 4 }, () => 'outlook.example'),
  ...Array.from({ length: 3 }, () => 'icloud.example'),
  ...['yahoo.example', 'yahoo.example', 'proton.example', 'fastmail.example'],
  ...['northwind.example', 'contoso.example', 'initech.example', 'globex.example'],
];

export interface DemoPerson {
  readonly firstName: string;
  readonly name: string;
  readonly address: string;
}

/** The same person for the same number, and another one for another. */
export function demoPerson(number: number): DemoPerson {
  const at = (list: readonly string[], place: number) => list[place % list.length] ?? '';
  const first = number % firstNames.length;
  const firstName = at(firstNames, first);
  const lastName = at(lastNames, Math.floor(number / firstNames.length) + first * 7);
  const round = Math.floor(number / (firstNames.length * lastNames.length));
  const local = `${firstName}.${lastName}${round === 0 ? '' : round}`.toLowerCase();
  return {
    firstName,
    name: `${firstName} ${lastName}`,
    address: `${local}@${at(domains, number * 11)}`,
  };
}
