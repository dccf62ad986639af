// The words and sentence templates of the pronouns task. A template has placeholders. The
// placeholder $name is replaced by a person, a thing or a drawn word. The placeholder @she:name is
// the pronoun of name at the beginning of a clause, and @her:name is its pronoun later in the
// clause.

export const names = {
  she: "Alice Anna Clara Dora Emma Grace Helen Julia Laura Maria Nora Ruth".split(" "),
  he: "Adam Bob Carl David Frank Henry Ivan Jack Leo Martin Oscar Paul".split(" "),
} as const;

export interface Kind {
  readonly nouns: readonly string[];
  /** The verbs that fit only these things: present, past, and passive. */
  readonly verbs: readonly (readonly [doing: string, did: string, done: string])[];
  /** The adjectives that fit only these things. */
  readonly qualities: readonly string[];
  /** The verbs for making or buying such a thing. */
  readonly made: readonly string[];
}

export const kinds: readonly Kind[] = [
  {
    nouns: ["book", "letter", "note", "poem", "story"],
    verbs: [
      ["read", "read", "read"],
      ["translate", "translated", "translated"],
    ],
    qualities: ["witty", "illegible"],
    made: ["wrote", "printed"],
  },
  {
    nouns: ["apple", "cake", "pear", "pie", "sandwich"],
    verbs: [
      ["eat", "ate", "eaten"],
      ["taste", "tasted", "tasted"],
    ],
    qualities: ["delicious", "stale"],
    made: ["prepared", "bought"],
  },
  {
    nouns: ["coat", "hat", "jacket", "scarf", "sweater"],
    verbs: [
      ["wear", "wore", "worn"],
      ["iron", "ironed", "ironed"],
    ],
    qualities: ["woollen", "tight"],
    made: ["sewed", "bought"],
  },
  {
    nouns: ["drum", "flute", "guitar", "trumpet", "violin"],
    verbs: [
      ["play", "played", "played"],
      ["tune", "tuned", "tuned"],
    ],
    qualities: ["tuneless", "loud"],
    made: ["repaired", "found"],
  },
  {
    nouns: ["bus", "car", "taxi", "truck", "van"],
    verbs: [
      ["drive", "drove", "driven"],
      ["park", "parked", "parked"],
    ],
    qualities: ["fast", "rusty"],
    made: ["repaired", "bought"],
  },
  {
    nouns: ["cactus", "fern", "orchid", "rose", "tulip"],
    verbs: [
      ["water", "watered", "watered"],
      ["plant", "planted", "planted"],
    ],
    qualities: ["withered", "thirsty"],
    made: ["picked", "found"],
  },
];

export const places = [
  ...["bridge", "church", "garden", "harbour", "library"],
  ...["market", "meadow", "river", "school", "station"],
];

export const small = {
  where: ["near", "behind", "at"],
  beside: ["next to", "under", "behind", "on"],
  before: ["in front of"],
  times: ["yesterday", "last week", "in the evening", "today"],
  owning: [", who owned $thing ,"],
  neutral: ["smiled", "laughed", "was late", "was hungry", "was in a hurry", "looked away"],
  pronouns: ["she", "he", "they", "her", "him", "them", "it"],
  others: ["a", "an", "the", "and", "were", "because", "so", ",", "."],
};

export interface Deed {
  /** The verb for an action of an agent on a patient; the same form serves the passive. */
  readonly did: readonly string[];
  readonly because: readonly string[];
  readonly so: readonly string[];
}

export const deeds: readonly Deed[] = [
  {
    did: ["helped", "supported"],
    because: [
      ...["@she:agent had time", "@she:agent was kind", "@she:agent was strong"],
      ...["@she:patient was tired", "@she:patient needed help", "@she:patient was afraid"],
    ],
    so: ["@she:patient thanked @her:agent", "@she:patient felt better"],
  },
  {
    did: ["taught", "trained"],
    because: [
      ...["@she:agent knew more", "@she:agent was wise"],
      ...["@she:patient wanted to learn", "@she:patient knew less"],
    ],
    so: ["@she:patient thanked @her:agent", "@she:patient made progress"],
  },
  {
    did: ["defeated", "outwitted"],
    because: [
      ...["@she:agent was faster", "@she:agent had cheated", "@she:agent was clever"],
      ...["@she:patient was slower", "@she:patient was tired", "@she:patient was careless"],
    ],
    so: ["@she:patient congratulated @her:agent", "@she:agent celebrated"],
  },
  {
    did: ["consoled", "visited"],
    because: [
      ...["@she:agent was kind", "@she:agent had heard the news"],
      ...["@she:patient was ill", "@she:patient was afraid", "@she:patient was lonely"],
    ],
    so: ["@she:patient thanked @her:agent", "@she:patient felt better"],
  },
  {
    did: ["avoided", "shunned"],
    because: [
      ...["@she:agent was shy", "@she:agent was afraid", "@she:agent felt guilty"],
      ...["@she:patient was rude", "@she:patient was strict", "@she:patient was strong"],
    ],
    so: ["@she:agent hid from @her:patient", "@she:patient felt lonely"],
  },
  {
    did: ["praised", "admired"],
    because: [
      ...["@she:agent was impressed", "@she:agent was grateful"],
      ...["@she:patient was kind", "@she:patient knew more", "@she:patient had worked hard"],
    ],
    so: ["@she:agent imitated @her:patient", "@she:patient blushed"],
  },
  {
    did: ["punished", "scolded"],
    because: [
      ...["@she:agent was strict", "@she:agent was angry"],
      ...["@she:patient had cheated", "@she:patient was rude", "@she:patient was careless"],
    ],
    so: ["@she:patient apologised to @her:agent", "@she:patient felt guilty"],
  },
  {
    did: ["robbed", "deceived"],
    because: [
      ...["@she:agent was greedy", "@she:agent was clever"],
      ...["@she:patient was careless", "@she:patient was rich"],
    ],
    so: ["@she:patient chased @her:agent", "@she:agent fled from @her:patient"],
  },
  {
    did: ["envied", "resented"],
    because: [
      ...["@she:patient was faster", "@she:patient was rich"],
      ...["@she:agent was slower", "@she:agent knew less"],
    ],
    so: ["@she:agent imitated @her:patient"],
  },
];

/** The clauses of a deed, active and passive. */
export const deedClauses = ["$agent $did $patient", "$patient was $did by $agent"];

export const transfers = {
  clauses: [
    "$giver $gave $receiver $thing",
    "$giver $gave $thing to $receiver",
    "$thing was $given to $receiver by $giver",
    "$receiver $got $thing from $giver",
  ],
  gave: [
    ["gave", "given"],
    ["handed", "handed"],
    ["lent", "lent"],
    ["sent", "sent"],
  ],
  got: ["got", "borrowed", "received"],
  because: [
    "@she:giver no longer needed @it:thing",
    "@she:giver was generous",
    "@she:receiver needed @it:thing",
    "@she:receiver had asked for @it:thing",
    "@she:receiver wanted to $do @it:thing",
  ],
  so: [
    "@she:receiver thanked @her:giver",
    "@she:receiver $did @it:thing",
    "@she:giver had to do without @it:thing",
  ],
} as const;

/** The verb or the adjective shows which of two things of different kinds is meant. */
export const choices = [
  "$person bought $thing and $other $where and $did @it:thing",
  "$person bought $other and $thing $where and $did @it:thing",
  "$person put $thing $beside $other because @it:thing was $quality",
  "$person put $other $beside $thing because @it:thing was $quality",
  "because @it:thing was $quality , $person put $thing $beside $other",
  "because @it:thing was $quality , $person put $other $beside $thing",
  "$person left $thing $where and $other $elsewhere , and later @she:person $did @it:thing",
  "$person left $other $where and $thing $elsewhere , and later @she:person $did @it:thing",
  "before @she:person $did @it:thing , $person put $thing $beside $other",
  "after @she:person $did @it:thing , $person put $other $beside $thing",
  "$thing and $other were bought by $person , and later @it:thing was $done by $second",
  "$other and $thing were bought by $person , and later @it:thing was $done by $second",
];

/** The thing that is made is the given one, not the other thing in the sentence. */
export const gifts = [
  "$person $made $thing and gave @it:thing to $second",
  "$person $made $thing $beside $other and gave @it:thing to $second",
  "$person , who owned $other , $made $thing and gave @it:thing to $second",
  "before @she:person gave @it:thing to $second , $person $made $thing $where",
];

/** Only the gender or the number of the pronoun shows which figure is meant. */
export const meetings = [
  "$a met $b $where and @she:x $neutral",
  "when $a saw $b $where , @she:x $neutral",
  "when $a saw $b $where , @she:x waved to @her:y",
  "$a talked to $b $where while @she:x $neutral",
  "before @she:x went home , $a called $b $where",
  "after @she:x called @her:y , $a met $b $where",
];

/** Sentences of the same kind with two things: one pronoun means the person, another one the thing. */
export const shows = [
  "$a showed $b $thing and $other , and @she:x $did @it:thing",
  "$a showed $b $other and $thing $where , and @she:x $did @it:thing",
];
