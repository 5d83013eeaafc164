/**
 * Sample texts for calibrating a model's floor: one passage and two queries for each of twenty subjects that have nothing to
 * do with one another, so that every pair of a query with another subject's passage is unrelated. Changing a word here
 * changes the calibration.
 */

export interface SampleSubject {
  passage: string;
  queries: readonly [string, string];
}

export const FLOOR_SAMPLE: readonly SampleSubject[] = [
  {
    passage:
      'Sourdough rises because wild yeast and lactic acid bacteria live together in the starter. Feed the starter with flour and water every day, and use it when it has doubled and smells of fruit. A long cold rest in the refrigerator deepens the flavour; bake the loaf in a covered pot so that the steam keeps the crust soft while the bread is still growing.',
    queries: ['how to keep a sourdough starter alive', 'why does bread need steam in the oven'],
  },
  {
    passage:
      'A volcano erupts when magma, lighter than the rock around it, rises and the gas dissolved in it comes out of solution. Runny basalt lets the gas escape and flows as lava; sticky magma holds the gas until it bursts, throwing ash many kilometres high. Geologists listen for small earthquakes and measure the swelling of the ground to warn the people below.',
    queries: ['signs that a volcano is about to erupt', 'difference between lava flows and ash eruptions'],
  },
  {
    passage:
      'The central bank raises interest rates when prices climb faster than it would like. Loans become dearer, households spend less, and companies put off investment, which in time slows inflation. The danger is a recession: unemployment grows before prices stop rising. Investors read every statement of the governors for a hint of the next decision.',
    queries: ['effect of interest rates on inflation', 'does raising rates cause unemployment?'],
  },
  {
    passage:
      'In the string quartets of his last years Beethoven gave up the usual four movements. One of them has seven that follow without a pause, and another ends with a fugue so difficult that the publisher asked for a new finale. Players at the time found the music strange; today it is performed in every season and recorded again and again.',
    queries: ['late beethoven quartets', 'composer who replaced a fugue with another finale'],
  },
  {
    passage:
      'A vaccine shows the immune system a harmless part of a virus. Cells swallow it and present pieces of its protein, which wakes lymphocytes that fit. Some make antibodies, others remember for years. When the real infection comes the response begins within hours instead of days, so that most patients feel little or nothing of the disease.',
    queries: ['how vaccines train immune memory', 'what do antibodies do after infection'],
  },
  {
    passage:
      'To speed up a slow database query, first look at the plan. If the engine scans the whole table, an index on the filtered column usually helps; if it sorts millions of rows, an index in the order of the result may avoid the sort. Too many indexes make every insert slower, and statistics that are out of date mislead the optimizer.',
    queries: ['why is my sql query slow', 'when not to add a database index'],
  },
  {
    passage:
      'The home side went ahead after ten minutes when the striker headed in a corner. The visitors had more of the ball in the second half and hit the post twice, but the goalkeeper saved a late penalty and the champions held on. The manager praised the defence and said that the title would be decided in the last week of the season.',
    queries: ['goalkeeper saved penalty in the final minutes', 'football league title race'],
  },
  {
    passage:
      'Roman roads were built by soldiers in straight lines from hill to hill. A trench was filled with stones, then gravel, then slabs with a slight slope to both sides, so that rain ran into the ditches. Milestones told the distance to the next town. Armies, traders and letters moved faster across the empire than they would for a thousand years after its fall.',
    queries: ['construction of ancient roman roads', 'how fast did news travel in the roman empire'],
  },
  {
    passage:
      'Bees tell each other where flowers are by dancing on the comb. The angle of the waggle against the vertical gives the direction with respect to the sun, its length the distance. Sisters follow the dancer in the dark of the hive and fly out to find the nectar. Pesticides that dull their memory make foragers lose the way home.',
    queries: ['meaning of the waggle dance', 'pesticides and honey bees'],
  },
  {
    passage:
      'A lease ends on the agreed day or with the notice that the law requires. The landlord must return the deposit, less the cost of damage beyond ordinary wear, and give a written account of what was kept. A tenant who leaves early may owe rent until a new one moves in, but the owner has to make a reasonable effort to find somebody.',
    queries: ['can my landlord keep the deposit', 'breaking a lease early'],
  },
  {
    passage:
      'The telescope was placed far beyond the moon so that the warmth of the earth would not blind its infrared camera. A shield of five thin layers keeps the mirror colder than the nights of Pluto. It sees galaxies whose light left them when the universe was young, and it has found water vapour in the air of planets around other stars.',
    queries: ['infrared space telescope sunshield', 'oldest galaxies ever seen'],
  },
  {
    passage:
      'Oil paint dries by taking up oxygen, not by losing water, and a thick layer may take years. Painters of the Renaissance worked in thin transparent glazes over a grey underpainting, so that light went through the colour and came back. Restorers remove old yellow varnish with solvents under a microscope and fill the gaps in a way that can be undone.',
    queries: ['glazing technique of renaissance painters', 'removing yellowed varnish from a painting'],
  },
  {
    passage:
      'For the first marathon build up slowly: three runs in the week, one of them long and easy, and every fourth week less. Most beginners start too fast and pay for it after thirty kilometres, when the sugar stored in the muscles is gone. Eat and drink early in the race, wear shoes that you know, and rest for two weeks afterwards.',
    queries: ['marathon training plan for beginners', 'hitting the wall at 30 km'],
  },
  {
    passage:
      'The parliament passed the budget by three votes after a night of debate. The opposition called for an election and said that the cuts to schools would hurt the poorest regions. The prime minister answered that the coalition would finish its term. Polls show both camps close to each other, with a small liberal party holding the balance.',
    queries: ['vote on the budget and coalition crisis', 'which party holds the balance of power?'],
  },
  {
    passage:
      'Solar panels turn about a fifth of the sunlight into electricity, and the price of a module has fallen by nine tenths in ten years. The difficulty is the evening, when demand is high and the sun is low. Batteries, pumped water and cables to other time zones help, and so do customers who charge their cars at noon.',
    queries: ['storing solar energy for the evening', 'efficiency and price of photovoltaic modules'],
  },
  {
    passage:
      'Children learn the sounds of their language before the first birthday and then lose the ear for others. Between two and three the vocabulary grows by several words a day, and mistakes such as goed show that they apply rules and do not merely repeat. Deaf children who grow up with signing parents babble with their hands at the same age.',
    queries: ['how toddlers acquire grammar', 'babies distinguish foreign speech sounds'],
  },
  {
    passage:
      'The container ship lost power in the narrow part of the canal and lay across it for six days. Hundreds of vessels waited at both ends or took the long way round the cape. Tugs and dredgers freed the bow at the spring tide. Insurers, the owner and the canal authority argued for months over who had to pay for the delay.',
    queries: ['ship stuck in canal blocked trade', 'shipping insurance claim for delays'],
  },
  {
    passage:
      'Prune apple trees in late winter, before the buds open. Take out dead and crossing branches first, then shorten the strong upright shoots, because fruit grows on wood that lies flat. A cut just above a bud that points outwards keeps the crown open, so that leaves dry quickly after rain and fungus finds no hold.',
    queries: ['best time to prune apple trees', 'preventing fungus on fruit trees'],
  },
  {
    passage:
      'In the novel a clerk wakes to find himself accused of a crime that nobody will name. The court meets in attics, its books are never shown, and everyone he asks for help turns out to belong to it. Critics have read it as a picture of bureaucracy, of guilt, of illness; the author himself wanted the manuscript burnt.',
    queries: [
      'novel about a man accused without knowing the charge',
      'author who asked for his manuscripts to be burned',
    ],
  },
  {
    passage:
      'Encryption with a public key rests on a problem that is easy one way and hard the other, such as multiplying two large primes. Anyone may lock a message with the published key; only the owner of the private one can open it. A certificate ties a key to a name, and the browser refuses the connection when the signature does not match.',
    queries: ['public key cryptography explained', 'browser says certificate is not trusted'],
  },
];

/**
 * The dense floor: the cosine below which a hit says as much as chance. It depends on the model alone, is stored with it,
 * and cuts what enters a dense result. Definition: the 95th percentile of the cosines between queries and passages that are
 * unrelated (every query with every other subject's passage, 760 pairs): one unrelated passage in
 * twenty still comes above it, so it removes noise and decides nothing about order.
 */
const FLOOR_QUANTILE = 0.95;

/** The floor from the unit vectors of the sample's passages, and of its queries by subject. */
export function floorOfSample(passages: readonly Float32Array[], queries: readonly Float32Array[][]): number {
  const cosines = queries
    .flatMap((ofSubject, subject) => {
      const others = passages.filter((_, other) => other !== subject);
      return ofSubject.flatMap((query) => others.map((passage) => dot(query, passage)));
    })
    .sort((a, b) => a - b);
  return cosines[Math.floor(cosines.length * FLOOR_QUANTILE)];
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}
