/**
 * Words that tell what a name in English text names. General knowledge of the language, not of any collection: each list holds the
 * class's common members. All lower case.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Never part of a name by themselves, however they are spelled. */
export const functionWords = words(`
  a an the this that these those he she it they we you i me him her us them his its their our your my mine hers theirs ours
  who whom whose which what when where why how and or but nor so yet if then than as at by for from in into of off on onto
  out over to up with without within after before since until during while because although though despite unless whether
  about above across against along among around behind below beneath beside besides between beyond down except inside like
  near outside per plus through throughout toward towards under underneath upon via is are was were be been being am do does
  did has have had having will would shall should can could may might must not no yes there here also however moreover
  therefore thus hence meanwhile furthermore nevertheless otherwise instead still even just only very too again once twice
  now later soon today yesterday tomorrow ago each every all any some many most more several few both either neither other
  another such same own last next according due
  additionally currently previously originally eventually finally recently initially subsequently following including later
  early former ex let's don't i'm i've it's that's there's he's she's mr. nothing something everything anyone someone everyone
  yes well oh please thanks thank see click read note chapter section part figure table page vol bc bce ad ce am pm a.m. p.m.
  me myself himself herself itself themselves `);

/** Of these, what is an abbreviation of a name where it is all in capitals. */
export const alsoAcronyms = words('us it who');

/** No name by themselves, but the beginning of one where they are capitalised in mid-sentence: `Second World War`. */
export const countingWords = words(
  'first second third fourth fifth sixth seventh eighth ninth tenth one two three four five six seven eight nine ten',
);

/** Lower-case particles inside names of people and places: `Vasco da Gama`. What joins two names in its own language is in `joiningParticles`, too. */
export const nameParticles = words(
  'de da do dos das del della di du la le les van von der den zu bin ibn al el y und et af av ter ten vande vander st',
);

/** In English text they are parts of names only: `Ramón y Cajal`. */
export const joiningParticles = words('y et und');

export const honorifics = words(`
  mr mrs ms miss dr prof sir dame lord lady madam father fr sister brother rev reverend sgt sergeant lt lieutenant capt captain
  cpt maj major col colonel gen general adm admiral cmdr commander cpl corporal pvt private hon rabbi imam sheikh pastor bishop
  archbishop cardinal pope saint king queen prince princess emperor empress duke duchess earl count countess baron baroness tsar
  czar sultan shah president chancellor minister premier senator sen representative rep congressman congresswoman governor gov
  mayor judge justice secretary ambassador professor coach chairman chairwoman chief officer detective inspector marshal sheriff
  brigadier commodore commissioner adviser advisor mp mep mla captain
  deputy speaker attorney councillor councilman director producer actor actress singer`);

/** Honorifics that are taken as a part of the name they stand before. */
export const keptHonorifics = words(
  'pope king queen prince princess emperor empress sir dame saint lord lady sultan shah st',
);

/** Titles that only begin with one of these are none of the name: `Prime Minister`, `Vice President`. */
export const titleModifiers = words(
  'prime vice deputy foreign defense defence finance interior attorney chief executive general lord senior major rear first acting former secretary',
);

export const orgHeads = words(`
  university college school academy institute institution seminary polytechnic laboratory laboratories observatory inc incorporated
  corp corporation co company companies ltd limited llc plc gmbh ag group holdings enterprises industries partners associates
  bank trust fund foundation society association federation confederation union league alliance coalition council committee
  commission board bureau agency authority administration department ministry office service services organization organisation
  party movement front congress parliament assembly senate house court police army navy force forces corps division brigade regiment
  battalion squadron guard fleet club fc cf afc sc united rovers wanderers city athletic team orchestra philharmonic symphony
  choir ensemble band quartet quintet trio records recordings entertainment studios pictures productions films television tv
  network networks broadcasting radio channel news press times post journal gazette herald tribune magazine review publishing
  publications publishers books airlines airways railways railroad railway motors automotive electric electronics energy oil
  petroleum gas mining steel pharmaceuticals systems technologies technology software solutions computing semiconductor
  communications telecom insurance capital financial investments securities ventures consulting church cathedral ministries
  diocese archdiocese order brotherhood hospital clinic museum gallery library theatre theater opera ballet
  center centre cooperative syndicate cartel secretariat directorate tribunal taskforce institute's workers labs lab media
  international forum initiative watch universiteit universidad university's università universität université accademia academia
  liberals conservatives greens socialists republicans democrats communists caliphate legion militia`);

export const placeHeads = words(`
  river lake sea ocean bay gulf strait straits channel creek falls island islands isle isles peninsula cape coast beach harbor harbour
  port mountain mountains mount mt hill hills valley canyon desert forest park plateau plain plains glacier volcano peak ridge
  county province district region territory state states republic kingdom empire emirate principality duchy prefecture parish borough
  municipality township town village city ville heights springs street st avenue ave road rd boulevard blvd lane drive highway
  hwy freeway route square plaza bridge tunnel airport station stadium arena hall tower castle palace abbey fort camp ranch
  gardens garden cemetery monument memorial temple mosque field speedway raceway courthouse building reservoir dam canal caves
  continent subcontinent basin delta oblast voivodeship canton commune colony`);

/** Begin names of places: `Mount Everest`, `Lake Erie`. */
export const placeBeginnings = words(
  'mount mt lake cape fort port san santa santo saint st river camp isle lago rio puerto bay gulf',
);

export const eventHeads = words(`
  war wars battle siege revolution rebellion revolt uprising coup invasion campaign operation offensive massacre genocide holocaust
  crisis conflict crusade crusades treaty agreement accord accords pact election elections referendum primary primaries olympics
  games cup championship championships tournament open grand prix marathon derby bowl series playoffs final finals festival fair
  expo exposition exhibition conference convention summit congresses symposium awards award prize prizes medal medals ceremony earthquake hurricane
  typhoon cyclone flood fire famine plague pandemic epidemic disaster crash accident bombing attack attacks assassination trial
  trials inquiry scandal affair protests riots strike movement renaissance reformation enlightenment depression recession armistice
  tour anniversary day week`);

/** Before a name of several words these make it an event's: `Battle of Hastings`. */
export const workHeads = words(`
  album song symphony sonata concerto bible quran koran torah constitution act bill amendment declaration charter manifesto code
  encyclopedia dictionary chronicles saga trilogy edition version dynasty language theorem theory law syndrome disease
  protocol license licence algorithm engine console phone`);

/** Nouns that come right before, or in apposition to, a name of the kind. */
export const orgNouns = words(`
  band group company firm corporation label team club party organization organisation newspaper magazine network station channel
  manufacturer publisher university college school airline bank retailer studio agency startup subsidiary brand chain militia`);
export const placeNouns = words(`
  city town village province county state region district island country capital suburb river lake republic municipality
  neighborhood neighbourhood port kingdom territory`);
export const workNouns = words(`
  album albums song songs single singles film films movie movies book books novel novels game games track tracks ep show series
  episode play opera musical poem sitcom soundtrack anime manga magazine comic documentary painting titled entitled called
  named ballet drama programme program software website app`);
export const eventNouns = words('battle war election tournament festival conference event ceremony');
/** Nouns of relation and office, beside what the lexicon knows as actors. */
export const personNouns = words(`
  brother sister father mother son daughter wife husband uncle aunt cousin friend member guitarist bassist drummer vocalist
  frontman keyboardist composer rapper director producer writer author poet novelist journalist actor actress singer musician
  president minister leader founder cofounder chairman ceo candidate politician footballer player manager coach general king
  queen prince mathematician physicist philosopher scientist historian economist lawyer attorney senator governor mayor critic
  professor dr emperor artist painter architect chancellor quarterback pitcher striker goalkeeper boxer wrestler`);

/** What people do, and other subjects seldom. */
export const personVerbs = words(`
  said says told tells asked asks replied wrote writes born died married thinks thought believed believes argued argues claimed
  recalled explained explains noted added insisted joked complained admitted denied resigned graduated studied sang starred
  played plays scored retired attended grew loved hated smiled laughed nodded felt remembers remembered moved worked met visited
  studied taught teaches directed composed sings acted stated suggested commented remarked declared`);

export const placePrepositions: Readonly<Record<string, number>> = {
  in: 1,
  near: 1,
  throughout: 0.8,
  across: 0.6,
  at: 0.3,
  from: 0.4,
  to: 0.25,
  into: 0.4,
  toward: 0.3,
  towards: 0.3,
  around: 0.4,
  outside: 0.6,
  within: 0.4,
  between: 0.15,
  inside: 0.4,
};

/** States that go by other names than the lexicon has. */
export const stateNames: ReadonlySet<string> = new Set(
  'uk|us|usa|u.s.|u.s.a.|u.k.|uae|ussr|prc|u.s.s.r.|soviet union|yugoslavia|czechoslovakia|prussia|ottoman empire'.split(
    '|',
  ),
);
