"""What scenes are made of: groups of meanings, and of each meaning variants that say the same in other words.

Meanings of one group are akin to each other (half related); meanings of different groups are not.
"""

Groups = dict[str, list[tuple[str, ...]]]


def _groups(**meanings: str) -> Groups:
    """Between the meanings of a group there are semicolons, between the variants of a meaning slashes."""
    return {
        group: [tuple(meaning.split(" / ")) for meaning in text.split("; ")]
        for group, text in meanings.items()
    }


AGENTS = _groups(
    children="a little boy / a small boy; a little girl / a small girl; two children / a pair of kids; a "
    "schoolboy / a boy with a school bag",
    women="an old woman / an elderly lady; a young woman / a woman in her twenties; a woman in a red coat / "
    "a lady wearing a red coat; two women / a pair of women",
    men="an old man / an elderly man; a young man / a man in his twenties; a man with a beard / a bearded "
    "man; two men / a pair of men",
    workers="a nurse / a hospital nurse; a mechanic / a man who repairs cars; a waiter / a man who waits "
    "tables; a police officer / an officer of the police",
    groups="a group of friends / several friends; a family / parents with their children; a crowd of "
    "tourists / many tourists; a team of students / several students",
)
EVENTS = _groups(
    cooking="is frying fish / is cooking fish in a pan; is slicing onions / is cutting onions into slices; "
    "is baking bread / is making a loaf of bread; is stirring a pot of soup / is cooking soup in a big pot",
    music="is playing the guitar / is making music on a guitar; is singing a slow song / is singing a quiet "
    "tune; is beating a drum / is playing a drum; is practising the violin / is playing the violin for "
    "practice",
    sport="is kicking a football / is playing with a football; is throwing a basketball / is tossing a "
    "basketball; is hitting a tennis ball / is playing tennis; is running a race / is racing on foot",
    water="is swimming / is having a swim; is rowing a boat / is moving a boat with oars; is catching fish "
    "with a rod / is fishing; is diving under water / is swimming below the surface",
    garden="is planting roses / is putting rose bushes into the ground; is mowing the grass / is cutting "
    "the grass; is watering flowers / is giving water to the flowers; is picking apples / is gathering "
    "apples",
    travel="is riding a bicycle / is cycling; is waiting for a train / is waiting until the train comes; is "
    "driving a van / is at the wheel of a van; is loading suitcases / is packing bags into a car",
    animals="is walking a dog / is out with a dog; is feeding a horse / is giving hay to a horse; is "
    "brushing a cat / is combing a cat; is chasing a goat / is running after a goat",
    building="is painting a fence / is giving a fence a coat of paint; is sawing wood / is cutting wood "
    "with a saw; is laying bricks / is building a brick wall; is repairing a roof / is mending a roof",
    reading="is reading a newspaper / is looking through a newspaper; is writing a letter / is putting a "
    "letter on paper; is studying a map / is looking closely at a map; is telling a story / is reciting a "
    "tale",
    trade="is selling vegetables / is offering vegetables for sale; is buying shoes / is paying for a pair "
    "of shoes; is counting coins / is adding up coins; is carrying shopping bags / is holding bags full of "
    "shopping",
)
PLACES = _groups(
    indoors="in the kitchen / inside the kitchen; in a small room / inside a narrow room; in a large hall / "
    "inside a big hall; in a workshop / inside a workshop",
    town="in the street / out on the street; at the market / between the market stalls; in front of the "
    "station / outside the station; on the town square / in the main square",
    green="in the park / on the lawn of the park; behind the house / at the back of the house; in a meadow "
    "/ on a grassy field; at the edge of the woods / where the woods begin",
    shore="at the beach / on the sand by the sea; by the river / on the bank of the river; at the lake / "
    "beside the lake; in the harbour / among the boats of the harbour",
)
TIMES = _groups(
    day="in the morning / early in the day; at noon / in the middle of the day",
    dark="in the evening / late in the day; at night / after dark",
)
