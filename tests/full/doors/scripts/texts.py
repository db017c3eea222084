import ucvtest as uv
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

good = ["fine film", "what a fine story", "great acting", "a great, fine evening", "loved it"]
bad = ["dull film", "what a bore", "poor acting", "a dull, poor evening", "hated it"]
reviews = [f"{text} {number % 3}" for number in range(6) for text in good + bad]
stars = (["good"] * 5 + ["bad"] * 5) * 6

logistic = make_pipeline(TfidfVectorizer(), LogisticRegression())
bayes = make_pipeline(TfidfVectorizer(), MultinomialNB())
print(uv.CorrectedTTest(reviews, stars, logistic, bayes, cv=5).fit())
# Corrected resampled t test
