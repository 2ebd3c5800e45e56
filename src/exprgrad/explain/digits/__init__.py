"""Trusted digits: how many are right, where the others were lost, and what is printed instead.

Bounds say which numbers of a run are doubtful (``right_digits``, given an error bound), and
true numbers are computed for those alone.  The room's map, each concept resting on those above it:

``judgements.TrueNumbers``    the true data and grads of a graph's nodes, in balls of some precision
``judgements.proven_digits``  how many digits of a double are right for certain, given the truth as a ball
``judgements.Judgement``      a double beside the truth, with its verdict: ``nearest``, ``counted``,
                              ``zero``, ``undefined``, ``undecided`` or ``ambiguous``; JSON has its ``word``
``losses.Evidence``           what doubles made of a graph, beside what is true of it
``losses.LossStep``           one step of the walk from a number to where its error came from
``losses.LostDigits``         the node that loses most digits on that walk, and why
``rewrites.Better``           a rewrite that was tried at the point and keeps them
``truths.AskedNumbers``       the numbers of an answer, as nodes: of the formula, or of derived graphs
``truths.Truths``             the source of truth about them, made of a run or of a question about it:
                              balls for the doubles that were read, and for the decimals as typed
``truths.DecimalKink``        a kink or a jump that the decimals as typed meet, and the doubles do not
``truths.Blame``              where a number's digits are lost, as a place in the user's formula, and help
``guard.PoorNumber``          a number that is wrong or ambiguous, what is printed, and the blame
``guard.settle_numbers``      the guard: corrects what is wrong by both readings, and warns
``trust.TrustedNumber``       a number, its word and its digits, as ``grad --trust`` prints them
``trust.Trust``               those of a run's value and gradient
"""
