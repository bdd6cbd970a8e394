type Text = readonly [key: string, content: string]

/** The files of a small office. */
export const officeFiles: readonly Text[] = [
  [
    'travel/expenses.md',
    `# Travel expenses

## Hotel

A hotel may cost up to 140 euros a night. Book it through the travel desk.

## Train and car

Take the train in second class. For your own car you get 30 cents per kilometre.

## Meals

Breakfast that is part of the room price is deducted from the daily allowance.

## Deadline

Hand in receipts within 30 days after the journey, together with the form from the intranet.
`,
  ],
  [
    'people/vacation.md',
    `# Vacation

Every employee has 28 days of vacation a year. Requests go to the team lead at least two weeks ahead.

## Left-over days

Days that are left at the end of the year expire on 31 March.

## Illness during vacation

Days with a doctor's note are given back.
`,
  ],
  [
    'people/sick-leave.md',
    `# Sick leave

Call your team lead before nine o'clock. From the third day on, a doctor's note is required.
`,
  ],
  [
    'people/parental-leave.md',
    `# Parental leave

Tell the personnel office seven weeks before it begins. Up to three years are possible for each child.
`,
  ],
  [
    'people/salary.md',
    `# Salary

Salaries are paid on the 25th of each month. Questions about the pay slip are answered by Ms Okafor.
`,
  ],
  [
    'people/training.md',
    `# Training

Each employee has a budget of 1,200 euros a year for courses and books. The team lead approves courses.
`,
  ],
  [
    'it/passwords.md',
    `# Passwords

A password has at least twelve characters. It is changed after a break-in only. The help desk resets a forgotten password.
`,
  ],
  [
    'it/laptop.md',
    `# Laptops

A broken laptop is replaced within one day. Bring it to room 2.14. Encrypt the disk before you take it abroad.
`,
  ],
  [
    'it/vpn.md',
    `# VPN

Use the VPN from outside of the office. The client is installed by the help desk. Error E-1042 means that the certificate has expired.
`,
  ],
  [
    'it/printer.md',
    `# Printers

The printers on each floor print in colour only with a badge. Toner, part 4711-AB/3, is in the cupboard next to the kitchen.
`,
  ],
  [
    'it/api.c.txt',
    `The loader calls fread until the end of the file. A break leaves the loop. The liveness probe calls moved() first.
`,
  ],
  [
    'office/keys.md',
    `# Keys and badges

A lost badge is reported to the reception at once. A new badge costs 15 euros.
`,
  ],
  [
    'office/parking.md',
    `# Parking

There are forty parking spaces behind the building. A space is assigned by lot every January.
`,
  ],
  [
    'office/meeting-rooms.md',
    `# Meeting rooms

Rooms are booked in the calendar for four hours at most. The large room has a projector and seats twenty people.
`,
  ],
  [
    'office/kitchen.md',
    `# Kitchen

Coffee and fruit are free. Empty the dishwasher when it is done. The refrigerator is cleaned every Friday.
`,
  ],
  [
    'office/fire.md',
    `# Fire

Leave the building by the stairs and meet at the flag pole. Nobody goes back for a coat.
`,
  ],
  [
    'purchase/orders.md',
    `# Orders

Orders above 500 euros need two signatures. Suppliers send their invoices to invoices@example.com with the order number.
`,
  ],
  [
    'purchase/suppliers.md',
    `# Suppliers

Paper comes from Nordpapier, contract 88-120-4. Cleaning is done by Blank & Sohn each evening.
`,
  ],
  [
    'sales/discounts.md',
    `# Discounts

Customers who order more than fifty pieces get five percent. Larger discounts are approved by the head of sales.
`,
  ],
  [
    'sales/warranty.md',
    `# Warranty

The warranty lasts two years. Returned goods are repaired or replaced within ten working days.
`,
  ],
]

/** Questions, the file that answers each, and a part of the passage that does. */
export const officeQuestions: readonly (readonly [
  question: string,
  key: string,
  passage: string,
])[] = [
  ['How much may a hotel cost?', 'travel/expenses.md', '140 euros'],
  ['What do I get for a kilometre with my own car?', 'travel/expenses.md', '30 cents'],
  ['How long may I wait to submit my hotel bill?', 'travel/expenses.md', 'within 30 days'],
  ['When do I have to hand in receipts?', 'travel/expenses.md', 'within 30 days'],
  ['How many days of vacation do I have?', 'people/vacation.md', '28 days'],
  ['When do left-over vacation days expire?', 'people/vacation.md', '31 March'],
  ['Which vacation days expire at the end of the year?', 'people/vacation.md', '31 March'],
  ['I fell ill during my vacation', 'people/vacation.md', 'given back'],
  ["Do I need a doctor's note on the first sick day?", 'people/sick-leave.md', 'third day'],
  ['When must I announce parental leave?', 'people/parental-leave.md', 'seven weeks'],
  ['When are salaries paid?', 'people/salary.md', '25th'],
  ['Who explains my pay slip?', 'people/salary.md', 'Okafor'],
  ['What is the budget for courses?', 'people/training.md', '1,200'],
  ['How long must a password be?', 'it/passwords.md', 'twelve characters'],
  ['I forgot my pasword', 'it/passwords.md', 'resets'],
  ['My laptop is broken', 'it/laptop.md', 'one day'],
  ['What does error E-1042 mean?', 'it/vpn.md', 'certificate'],
  ['Which toner do the printers need?', 'it/printer.md', '4711-AB/3'],
  ['4711AB3', 'it/printer.md', '4711-AB/3'],
  ['I lost my badge', 'office/keys.md', 'reception'],
  ['Who gets a parking space?', 'office/parking.md', 'by lot'],
  ['Which meeting room has a projector?', 'office/meeting-rooms.md', 'projector'],
  ['Is the coffee free?', 'office/kitchen.md', 'Coffee'],
  ['Where do we meet when there is a fire?', 'office/fire.md', 'flag pole'],
  ['Which orders need two signatures?', 'purchase/orders.md', '500 euros'],
  ['Who is the supplier with contract 881204?', 'purchase/suppliers.md', 'Nordpapier'],
  ['How large is the discount for more than fifty pieces?', 'sales/discounts.md', 'five percent'],
  ['How long does the warranty last?', 'sales/warranty.md', 'two years'],
]

/** Questions about nothing in these files. */
export const otherQuestions: readonly string[] = [
  'What is love?',
  'How do I bake bread?',
  'How tall is Mount Everest?',
  'Who wrote Hamlet?',
  'Which bulbs flower in February?',
  'How long do eggs have to boil?',
  'What is the capital of Portugal?',
  'Who won the race in Monaco?',
  'How do I tune a guitar?',
  'When was the French revolution?',
  'Can dogs eat chocolate?',
  'Why is the sky blue?',
  'How does photosynthesis work?',
  'What do penguins eat?',
  'How do I remove wine stains from a shirt?',
  'What is the distance to the moon?',
  'Which planet has rings?',
  'How do I train for a marathon?',
]
